_basalt() {
    local i cur prev opts cmd
    COMPREPLY=()
    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
        cur="$2"
    else
        cur="${COMP_WORDS[COMP_CWORD]}"
    fi
    prev="$3"
    cmd=""
    opts=""

    for i in "${COMP_WORDS[@]:0:COMP_CWORD}"
    do
        case "${cmd},${i}" in
            ",$1")
                cmd="basalt"
                ;;
            basalt,adm)
                cmd="basalt__subcmd__adm"
                ;;
            basalt,bench)
                cmd="basalt__subcmd__bench"
                ;;
            basalt,demo)
                cmd="basalt__subcmd__demo"
                ;;
            basalt,device)
                cmd="basalt__subcmd__device"
                ;;
            basalt,explain)
                cmd="basalt__subcmd__explain"
                ;;
            basalt,help)
                cmd="basalt__subcmd__help"
                ;;
            basalt,install-links)
                cmd="basalt__subcmd__install__subcmd__links"
                ;;
            basalt,node)
                cmd="basalt__subcmd__node"
                ;;
            basalt,pki)
                cmd="basalt__subcmd__pki"
                ;;
            basalt,setup)
                cmd="basalt__subcmd__setup"
                ;;
            basalt,top)
                cmd="basalt__subcmd__top"
                ;;
            basalt__subcmd__adm,adjust)
                cmd="basalt__subcmd__adm__subcmd__adjust"
                ;;
            basalt__subcmd__adm,adjust-with-progress)
                cmd="basalt__subcmd__adm__subcmd__adjust"
                ;;
            basalt__subcmd__adm,adopt)
                cmd="basalt__subcmd__adm__subcmd__adopt"
                ;;
            basalt__subcmd__adm,adopt-drbd)
                cmd="basalt__subcmd__adm__subcmd__adopt__subcmd__drbd"
                ;;
            basalt__subcmd__adm,apply-al)
                cmd="basalt__subcmd__adm__subcmd__apply__subcmd__al"
                ;;
            basalt__subcmd__adm,attach)
                cmd="basalt__subcmd__adm__subcmd__attach"
                ;;
            basalt__subcmd__adm,check-resize)
                cmd="basalt__subcmd__adm__subcmd__check__subcmd__resize"
                ;;
            basalt__subcmd__adm,connect)
                cmd="basalt__subcmd__adm__subcmd__connect"
                ;;
            basalt__subcmd__adm,create-md)
                cmd="basalt__subcmd__adm__subcmd__create__subcmd__md"
                ;;
            basalt__subcmd__adm,cstate)
                cmd="basalt__subcmd__adm__subcmd__cstate"
                ;;
            basalt__subcmd__adm,del-minor)
                cmd="basalt__subcmd__adm__subcmd__del__subcmd__minor"
                ;;
            basalt__subcmd__adm,del-path)
                cmd="basalt__subcmd__adm__subcmd__del__subcmd__path"
                ;;
            basalt__subcmd__adm,del-peer)
                cmd="basalt__subcmd__adm__subcmd__del__subcmd__peer"
                ;;
            basalt__subcmd__adm,detach)
                cmd="basalt__subcmd__adm__subcmd__detach"
                ;;
            basalt__subcmd__adm,disconnect)
                cmd="basalt__subcmd__adm__subcmd__disconnect"
                ;;
            basalt__subcmd__adm,disk-options)
                cmd="basalt__subcmd__adm__subcmd__disk__subcmd__options"
                ;;
            basalt__subcmd__adm,down)
                cmd="basalt__subcmd__adm__subcmd__down"
                ;;
            basalt__subcmd__adm,dstate)
                cmd="basalt__subcmd__adm__subcmd__dstate"
                ;;
            basalt__subcmd__adm,dump)
                cmd="basalt__subcmd__adm__subcmd__dump"
                ;;
            basalt__subcmd__adm,dump-md)
                cmd="basalt__subcmd__adm__subcmd__dump__subcmd__md"
                ;;
            basalt__subcmd__adm,dump-superblock)
                cmd="basalt__subcmd__adm__subcmd__dump__subcmd__md"
                ;;
            basalt__subcmd__adm,dump-xml)
                cmd="basalt__subcmd__adm__subcmd__dump__subcmd__xml"
                ;;
            basalt__subcmd__adm,events2)
                cmd="basalt__subcmd__adm__subcmd__events2"
                ;;
            basalt__subcmd__adm,explain)
                cmd="basalt__subcmd__adm__subcmd__explain"
                ;;
            basalt__subcmd__adm,forget-peer)
                cmd="basalt__subcmd__adm__subcmd__forget__subcmd__peer"
                ;;
            basalt__subcmd__adm,get-gi)
                cmd="basalt__subcmd__adm__subcmd__get__subcmd__gi"
                ;;
            basalt__subcmd__adm,help)
                cmd="basalt__subcmd__adm__subcmd__help"
                ;;
            basalt__subcmd__adm,hidden-commands)
                cmd="basalt__subcmd__adm__subcmd__hidden__subcmd__commands"
                ;;
            basalt__subcmd__adm,invalidate)
                cmd="basalt__subcmd__adm__subcmd__invalidate"
                ;;
            basalt__subcmd__adm,invalidate-remote)
                cmd="basalt__subcmd__adm__subcmd__invalidate__subcmd__remote"
                ;;
            basalt__subcmd__adm,net-options)
                cmd="basalt__subcmd__adm__subcmd__net__subcmd__options"
                ;;
            basalt__subcmd__adm,new-current-uuid)
                cmd="basalt__subcmd__adm__subcmd__new__subcmd__current__subcmd__uuid"
                ;;
            basalt__subcmd__adm,new-minor)
                cmd="basalt__subcmd__adm__subcmd__new__subcmd__minor"
                ;;
            basalt__subcmd__adm,new-path)
                cmd="basalt__subcmd__adm__subcmd__new__subcmd__path"
                ;;
            basalt__subcmd__adm,new-peer)
                cmd="basalt__subcmd__adm__subcmd__new__subcmd__peer"
                ;;
            basalt__subcmd__adm,new-resource)
                cmd="basalt__subcmd__adm__subcmd__new__subcmd__resource"
                ;;
            basalt__subcmd__adm,outdate)
                cmd="basalt__subcmd__adm__subcmd__outdate"
                ;;
            basalt__subcmd__adm,pause-sync)
                cmd="basalt__subcmd__adm__subcmd__pause__subcmd__sync"
                ;;
            basalt__subcmd__adm,peer-device-options)
                cmd="basalt__subcmd__adm__subcmd__peer__subcmd__device__subcmd__options"
                ;;
            basalt__subcmd__adm,peer-role)
                cmd="basalt__subcmd__adm__subcmd__peer__subcmd__role"
                ;;
            basalt__subcmd__adm,primary)
                cmd="basalt__subcmd__adm__subcmd__primary"
                ;;
            basalt__subcmd__adm,reopen)
                cmd="basalt__subcmd__adm__subcmd__reopen"
                ;;
            basalt__subcmd__adm,repair-md)
                cmd="basalt__subcmd__adm__subcmd__repair__subcmd__md"
                ;;
            basalt__subcmd__adm,report)
                cmd="basalt__subcmd__adm__subcmd__report"
                ;;
            basalt__subcmd__adm,resize)
                cmd="basalt__subcmd__adm__subcmd__resize"
                ;;
            basalt__subcmd__adm,resource-options)
                cmd="basalt__subcmd__adm__subcmd__resource__subcmd__options"
                ;;
            basalt__subcmd__adm,resume-io)
                cmd="basalt__subcmd__adm__subcmd__resume__subcmd__io"
                ;;
            basalt__subcmd__adm,resume-sync)
                cmd="basalt__subcmd__adm__subcmd__resume__subcmd__sync"
                ;;
            basalt__subcmd__adm,role)
                cmd="basalt__subcmd__adm__subcmd__role"
                ;;
            basalt__subcmd__adm,secondary)
                cmd="basalt__subcmd__adm__subcmd__secondary"
                ;;
            basalt__subcmd__adm,set-gi)
                cmd="basalt__subcmd__adm__subcmd__set__subcmd__gi"
                ;;
            basalt__subcmd__adm,sh-dev)
                cmd="basalt__subcmd__adm__subcmd__sh__subcmd__dev"
                ;;
            basalt__subcmd__adm,sh-ip)
                cmd="basalt__subcmd__adm__subcmd__sh__subcmd__ip"
                ;;
            basalt__subcmd__adm,sh-list-adjustable)
                cmd="basalt__subcmd__adm__subcmd__sh__subcmd__list__subcmd__adjustable"
                ;;
            basalt__subcmd__adm,sh-list-config-file)
                cmd="basalt__subcmd__adm__subcmd__sh__subcmd__list__subcmd__config__subcmd__file"
                ;;
            basalt__subcmd__adm,sh-ll-dev)
                cmd="basalt__subcmd__adm__subcmd__sh__subcmd__ll__subcmd__dev"
                ;;
            basalt__subcmd__adm,sh-md-dev)
                cmd="basalt__subcmd__adm__subcmd__sh__subcmd__md__subcmd__dev"
                ;;
            basalt__subcmd__adm,sh-md-idx)
                cmd="basalt__subcmd__adm__subcmd__sh__subcmd__md__subcmd__idx"
                ;;
            basalt__subcmd__adm,sh-minor)
                cmd="basalt__subcmd__adm__subcmd__sh__subcmd__minor"
                ;;
            basalt__subcmd__adm,sh-mod-parms)
                cmd="basalt__subcmd__adm__subcmd__sh__subcmd__mod__subcmd__parms"
                ;;
            basalt__subcmd__adm,sh-nop)
                cmd="basalt__subcmd__adm__subcmd__sh__subcmd__nop"
                ;;
            basalt__subcmd__adm,sh-resource)
                cmd="basalt__subcmd__adm__subcmd__sh__subcmd__resource"
                ;;
            basalt__subcmd__adm,sh-resources)
                cmd="basalt__subcmd__adm__subcmd__sh__subcmd__resources"
                ;;
            basalt__subcmd__adm,sh-udev)
                cmd="basalt__subcmd__adm__subcmd__sh__subcmd__udev"
                ;;
            basalt__subcmd__adm,show-gi)
                cmd="basalt__subcmd__adm__subcmd__show__subcmd__gi"
                ;;
            basalt__subcmd__adm,status)
                cmd="basalt__subcmd__adm__subcmd__status"
                ;;
            basalt__subcmd__adm,suspend-io)
                cmd="basalt__subcmd__adm__subcmd__suspend__subcmd__io"
                ;;
            basalt__subcmd__adm,up)
                cmd="basalt__subcmd__adm__subcmd__up"
                ;;
            basalt__subcmd__adm,verify)
                cmd="basalt__subcmd__adm__subcmd__verify"
                ;;
            basalt__subcmd__adm,wait-con-int)
                cmd="basalt__subcmd__adm__subcmd__wait__subcmd__con__subcmd__int"
                ;;
            basalt__subcmd__adm,wait-connect)
                cmd="basalt__subcmd__adm__subcmd__wait__subcmd__connect"
                ;;
            basalt__subcmd__adm,wait-sync)
                cmd="basalt__subcmd__adm__subcmd__wait__subcmd__sync"
                ;;
            basalt__subcmd__adm,wipe-md)
                cmd="basalt__subcmd__adm__subcmd__wipe__subcmd__md"
                ;;
            basalt__subcmd__adm__subcmd__help,adjust)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__adjust"
                ;;
            basalt__subcmd__adm__subcmd__help,adopt)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__adopt"
                ;;
            basalt__subcmd__adm__subcmd__help,adopt-drbd)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__adopt__subcmd__drbd"
                ;;
            basalt__subcmd__adm__subcmd__help,apply-al)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__apply__subcmd__al"
                ;;
            basalt__subcmd__adm__subcmd__help,attach)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__attach"
                ;;
            basalt__subcmd__adm__subcmd__help,check-resize)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__check__subcmd__resize"
                ;;
            basalt__subcmd__adm__subcmd__help,connect)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__connect"
                ;;
            basalt__subcmd__adm__subcmd__help,create-md)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__create__subcmd__md"
                ;;
            basalt__subcmd__adm__subcmd__help,cstate)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__cstate"
                ;;
            basalt__subcmd__adm__subcmd__help,del-minor)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__del__subcmd__minor"
                ;;
            basalt__subcmd__adm__subcmd__help,del-path)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__del__subcmd__path"
                ;;
            basalt__subcmd__adm__subcmd__help,del-peer)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__del__subcmd__peer"
                ;;
            basalt__subcmd__adm__subcmd__help,detach)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__detach"
                ;;
            basalt__subcmd__adm__subcmd__help,disconnect)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__disconnect"
                ;;
            basalt__subcmd__adm__subcmd__help,disk-options)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__disk__subcmd__options"
                ;;
            basalt__subcmd__adm__subcmd__help,down)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__down"
                ;;
            basalt__subcmd__adm__subcmd__help,dstate)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__dstate"
                ;;
            basalt__subcmd__adm__subcmd__help,dump)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__dump"
                ;;
            basalt__subcmd__adm__subcmd__help,dump-md)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__dump__subcmd__md"
                ;;
            basalt__subcmd__adm__subcmd__help,dump-xml)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__dump__subcmd__xml"
                ;;
            basalt__subcmd__adm__subcmd__help,events2)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__events2"
                ;;
            basalt__subcmd__adm__subcmd__help,explain)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__explain"
                ;;
            basalt__subcmd__adm__subcmd__help,forget-peer)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__forget__subcmd__peer"
                ;;
            basalt__subcmd__adm__subcmd__help,get-gi)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__get__subcmd__gi"
                ;;
            basalt__subcmd__adm__subcmd__help,help)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__help"
                ;;
            basalt__subcmd__adm__subcmd__help,hidden-commands)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__hidden__subcmd__commands"
                ;;
            basalt__subcmd__adm__subcmd__help,invalidate)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__invalidate"
                ;;
            basalt__subcmd__adm__subcmd__help,invalidate-remote)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__invalidate__subcmd__remote"
                ;;
            basalt__subcmd__adm__subcmd__help,net-options)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__net__subcmd__options"
                ;;
            basalt__subcmd__adm__subcmd__help,new-current-uuid)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__new__subcmd__current__subcmd__uuid"
                ;;
            basalt__subcmd__adm__subcmd__help,new-minor)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__new__subcmd__minor"
                ;;
            basalt__subcmd__adm__subcmd__help,new-path)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__new__subcmd__path"
                ;;
            basalt__subcmd__adm__subcmd__help,new-peer)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__new__subcmd__peer"
                ;;
            basalt__subcmd__adm__subcmd__help,new-resource)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__new__subcmd__resource"
                ;;
            basalt__subcmd__adm__subcmd__help,outdate)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__outdate"
                ;;
            basalt__subcmd__adm__subcmd__help,pause-sync)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__pause__subcmd__sync"
                ;;
            basalt__subcmd__adm__subcmd__help,peer-device-options)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__peer__subcmd__device__subcmd__options"
                ;;
            basalt__subcmd__adm__subcmd__help,peer-role)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__peer__subcmd__role"
                ;;
            basalt__subcmd__adm__subcmd__help,primary)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__primary"
                ;;
            basalt__subcmd__adm__subcmd__help,reopen)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__reopen"
                ;;
            basalt__subcmd__adm__subcmd__help,repair-md)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__repair__subcmd__md"
                ;;
            basalt__subcmd__adm__subcmd__help,report)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__report"
                ;;
            basalt__subcmd__adm__subcmd__help,resize)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__resize"
                ;;
            basalt__subcmd__adm__subcmd__help,resource-options)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__resource__subcmd__options"
                ;;
            basalt__subcmd__adm__subcmd__help,resume-io)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__resume__subcmd__io"
                ;;
            basalt__subcmd__adm__subcmd__help,resume-sync)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__resume__subcmd__sync"
                ;;
            basalt__subcmd__adm__subcmd__help,role)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__role"
                ;;
            basalt__subcmd__adm__subcmd__help,secondary)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__secondary"
                ;;
            basalt__subcmd__adm__subcmd__help,set-gi)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__set__subcmd__gi"
                ;;
            basalt__subcmd__adm__subcmd__help,sh-dev)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__sh__subcmd__dev"
                ;;
            basalt__subcmd__adm__subcmd__help,sh-ip)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__sh__subcmd__ip"
                ;;
            basalt__subcmd__adm__subcmd__help,sh-list-adjustable)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__sh__subcmd__list__subcmd__adjustable"
                ;;
            basalt__subcmd__adm__subcmd__help,sh-list-config-file)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__sh__subcmd__list__subcmd__config__subcmd__file"
                ;;
            basalt__subcmd__adm__subcmd__help,sh-ll-dev)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__sh__subcmd__ll__subcmd__dev"
                ;;
            basalt__subcmd__adm__subcmd__help,sh-md-dev)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__sh__subcmd__md__subcmd__dev"
                ;;
            basalt__subcmd__adm__subcmd__help,sh-md-idx)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__sh__subcmd__md__subcmd__idx"
                ;;
            basalt__subcmd__adm__subcmd__help,sh-minor)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__sh__subcmd__minor"
                ;;
            basalt__subcmd__adm__subcmd__help,sh-mod-parms)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__sh__subcmd__mod__subcmd__parms"
                ;;
            basalt__subcmd__adm__subcmd__help,sh-nop)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__sh__subcmd__nop"
                ;;
            basalt__subcmd__adm__subcmd__help,sh-resource)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__sh__subcmd__resource"
                ;;
            basalt__subcmd__adm__subcmd__help,sh-resources)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__sh__subcmd__resources"
                ;;
            basalt__subcmd__adm__subcmd__help,sh-udev)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__sh__subcmd__udev"
                ;;
            basalt__subcmd__adm__subcmd__help,show-gi)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__show__subcmd__gi"
                ;;
            basalt__subcmd__adm__subcmd__help,status)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__status"
                ;;
            basalt__subcmd__adm__subcmd__help,suspend-io)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__suspend__subcmd__io"
                ;;
            basalt__subcmd__adm__subcmd__help,up)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__up"
                ;;
            basalt__subcmd__adm__subcmd__help,verify)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__verify"
                ;;
            basalt__subcmd__adm__subcmd__help,wait-con-int)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__wait__subcmd__con__subcmd__int"
                ;;
            basalt__subcmd__adm__subcmd__help,wait-connect)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__wait__subcmd__connect"
                ;;
            basalt__subcmd__adm__subcmd__help,wait-sync)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__wait__subcmd__sync"
                ;;
            basalt__subcmd__adm__subcmd__help,wipe-md)
                cmd="basalt__subcmd__adm__subcmd__help__subcmd__wipe__subcmd__md"
                ;;
            basalt__subcmd__bench,canary)
                cmd="basalt__subcmd__bench__subcmd__canary"
                ;;
            basalt__subcmd__bench,chaos)
                cmd="basalt__subcmd__bench__subcmd__chaos"
                ;;
            basalt__subcmd__bench,failover)
                cmd="basalt__subcmd__bench__subcmd__failover"
                ;;
            basalt__subcmd__bench,help)
                cmd="basalt__subcmd__bench__subcmd__help"
                ;;
            basalt__subcmd__bench,idle)
                cmd="basalt__subcmd__bench__subcmd__idle"
                ;;
            basalt__subcmd__bench,puppet)
                cmd="basalt__subcmd__bench__subcmd__puppet"
                ;;
            basalt__subcmd__bench,resync)
                cmd="basalt__subcmd__bench__subcmd__resync"
                ;;
            basalt__subcmd__bench,rows)
                cmd="basalt__subcmd__bench__subcmd__rows"
                ;;
            basalt__subcmd__bench,upgrade)
                cmd="basalt__subcmd__bench__subcmd__upgrade"
                ;;
            basalt__subcmd__bench,verify)
                cmd="basalt__subcmd__bench__subcmd__verify"
                ;;
            basalt__subcmd__bench,write)
                cmd="basalt__subcmd__bench__subcmd__write"
                ;;
            basalt__subcmd__bench__subcmd__help,canary)
                cmd="basalt__subcmd__bench__subcmd__help__subcmd__canary"
                ;;
            basalt__subcmd__bench__subcmd__help,chaos)
                cmd="basalt__subcmd__bench__subcmd__help__subcmd__chaos"
                ;;
            basalt__subcmd__bench__subcmd__help,failover)
                cmd="basalt__subcmd__bench__subcmd__help__subcmd__failover"
                ;;
            basalt__subcmd__bench__subcmd__help,help)
                cmd="basalt__subcmd__bench__subcmd__help__subcmd__help"
                ;;
            basalt__subcmd__bench__subcmd__help,idle)
                cmd="basalt__subcmd__bench__subcmd__help__subcmd__idle"
                ;;
            basalt__subcmd__bench__subcmd__help,puppet)
                cmd="basalt__subcmd__bench__subcmd__help__subcmd__puppet"
                ;;
            basalt__subcmd__bench__subcmd__help,resync)
                cmd="basalt__subcmd__bench__subcmd__help__subcmd__resync"
                ;;
            basalt__subcmd__bench__subcmd__help,rows)
                cmd="basalt__subcmd__bench__subcmd__help__subcmd__rows"
                ;;
            basalt__subcmd__bench__subcmd__help,upgrade)
                cmd="basalt__subcmd__bench__subcmd__help__subcmd__upgrade"
                ;;
            basalt__subcmd__bench__subcmd__help,verify)
                cmd="basalt__subcmd__bench__subcmd__help__subcmd__verify"
                ;;
            basalt__subcmd__bench__subcmd__help,write)
                cmd="basalt__subcmd__bench__subcmd__help__subcmd__write"
                ;;
            basalt__subcmd__device,help)
                cmd="basalt__subcmd__device__subcmd__help"
                ;;
            basalt__subcmd__device,remove)
                cmd="basalt__subcmd__device__subcmd__remove"
                ;;
            basalt__subcmd__device__subcmd__help,help)
                cmd="basalt__subcmd__device__subcmd__help__subcmd__help"
                ;;
            basalt__subcmd__device__subcmd__help,remove)
                cmd="basalt__subcmd__device__subcmd__help__subcmd__remove"
                ;;
            basalt__subcmd__help,adm)
                cmd="basalt__subcmd__help__subcmd__adm"
                ;;
            basalt__subcmd__help,bench)
                cmd="basalt__subcmd__help__subcmd__bench"
                ;;
            basalt__subcmd__help,demo)
                cmd="basalt__subcmd__help__subcmd__demo"
                ;;
            basalt__subcmd__help,device)
                cmd="basalt__subcmd__help__subcmd__device"
                ;;
            basalt__subcmd__help,explain)
                cmd="basalt__subcmd__help__subcmd__explain"
                ;;
            basalt__subcmd__help,help)
                cmd="basalt__subcmd__help__subcmd__help"
                ;;
            basalt__subcmd__help,install-links)
                cmd="basalt__subcmd__help__subcmd__install__subcmd__links"
                ;;
            basalt__subcmd__help,node)
                cmd="basalt__subcmd__help__subcmd__node"
                ;;
            basalt__subcmd__help,pki)
                cmd="basalt__subcmd__help__subcmd__pki"
                ;;
            basalt__subcmd__help,setup)
                cmd="basalt__subcmd__help__subcmd__setup"
                ;;
            basalt__subcmd__help,top)
                cmd="basalt__subcmd__help__subcmd__top"
                ;;
            basalt__subcmd__help__subcmd__adm,adjust)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__adjust"
                ;;
            basalt__subcmd__help__subcmd__adm,adopt)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__adopt"
                ;;
            basalt__subcmd__help__subcmd__adm,adopt-drbd)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__adopt__subcmd__drbd"
                ;;
            basalt__subcmd__help__subcmd__adm,apply-al)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__apply__subcmd__al"
                ;;
            basalt__subcmd__help__subcmd__adm,attach)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__attach"
                ;;
            basalt__subcmd__help__subcmd__adm,check-resize)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__check__subcmd__resize"
                ;;
            basalt__subcmd__help__subcmd__adm,connect)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__connect"
                ;;
            basalt__subcmd__help__subcmd__adm,create-md)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__create__subcmd__md"
                ;;
            basalt__subcmd__help__subcmd__adm,cstate)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__cstate"
                ;;
            basalt__subcmd__help__subcmd__adm,del-minor)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__del__subcmd__minor"
                ;;
            basalt__subcmd__help__subcmd__adm,del-path)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__del__subcmd__path"
                ;;
            basalt__subcmd__help__subcmd__adm,del-peer)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__del__subcmd__peer"
                ;;
            basalt__subcmd__help__subcmd__adm,detach)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__detach"
                ;;
            basalt__subcmd__help__subcmd__adm,disconnect)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__disconnect"
                ;;
            basalt__subcmd__help__subcmd__adm,disk-options)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__disk__subcmd__options"
                ;;
            basalt__subcmd__help__subcmd__adm,down)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__down"
                ;;
            basalt__subcmd__help__subcmd__adm,dstate)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__dstate"
                ;;
            basalt__subcmd__help__subcmd__adm,dump)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__dump"
                ;;
            basalt__subcmd__help__subcmd__adm,dump-md)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__dump__subcmd__md"
                ;;
            basalt__subcmd__help__subcmd__adm,dump-xml)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__dump__subcmd__xml"
                ;;
            basalt__subcmd__help__subcmd__adm,events2)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__events2"
                ;;
            basalt__subcmd__help__subcmd__adm,explain)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__explain"
                ;;
            basalt__subcmd__help__subcmd__adm,forget-peer)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__forget__subcmd__peer"
                ;;
            basalt__subcmd__help__subcmd__adm,get-gi)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__get__subcmd__gi"
                ;;
            basalt__subcmd__help__subcmd__adm,hidden-commands)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__hidden__subcmd__commands"
                ;;
            basalt__subcmd__help__subcmd__adm,invalidate)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__invalidate"
                ;;
            basalt__subcmd__help__subcmd__adm,invalidate-remote)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__invalidate__subcmd__remote"
                ;;
            basalt__subcmd__help__subcmd__adm,net-options)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__net__subcmd__options"
                ;;
            basalt__subcmd__help__subcmd__adm,new-current-uuid)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__new__subcmd__current__subcmd__uuid"
                ;;
            basalt__subcmd__help__subcmd__adm,new-minor)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__new__subcmd__minor"
                ;;
            basalt__subcmd__help__subcmd__adm,new-path)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__new__subcmd__path"
                ;;
            basalt__subcmd__help__subcmd__adm,new-peer)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__new__subcmd__peer"
                ;;
            basalt__subcmd__help__subcmd__adm,new-resource)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__new__subcmd__resource"
                ;;
            basalt__subcmd__help__subcmd__adm,outdate)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__outdate"
                ;;
            basalt__subcmd__help__subcmd__adm,pause-sync)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__pause__subcmd__sync"
                ;;
            basalt__subcmd__help__subcmd__adm,peer-device-options)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__peer__subcmd__device__subcmd__options"
                ;;
            basalt__subcmd__help__subcmd__adm,peer-role)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__peer__subcmd__role"
                ;;
            basalt__subcmd__help__subcmd__adm,primary)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__primary"
                ;;
            basalt__subcmd__help__subcmd__adm,reopen)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__reopen"
                ;;
            basalt__subcmd__help__subcmd__adm,repair-md)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__repair__subcmd__md"
                ;;
            basalt__subcmd__help__subcmd__adm,report)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__report"
                ;;
            basalt__subcmd__help__subcmd__adm,resize)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__resize"
                ;;
            basalt__subcmd__help__subcmd__adm,resource-options)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__resource__subcmd__options"
                ;;
            basalt__subcmd__help__subcmd__adm,resume-io)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__resume__subcmd__io"
                ;;
            basalt__subcmd__help__subcmd__adm,resume-sync)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__resume__subcmd__sync"
                ;;
            basalt__subcmd__help__subcmd__adm,role)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__role"
                ;;
            basalt__subcmd__help__subcmd__adm,secondary)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__secondary"
                ;;
            basalt__subcmd__help__subcmd__adm,set-gi)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__set__subcmd__gi"
                ;;
            basalt__subcmd__help__subcmd__adm,sh-dev)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__sh__subcmd__dev"
                ;;
            basalt__subcmd__help__subcmd__adm,sh-ip)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__sh__subcmd__ip"
                ;;
            basalt__subcmd__help__subcmd__adm,sh-list-adjustable)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__sh__subcmd__list__subcmd__adjustable"
                ;;
            basalt__subcmd__help__subcmd__adm,sh-list-config-file)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__sh__subcmd__list__subcmd__config__subcmd__file"
                ;;
            basalt__subcmd__help__subcmd__adm,sh-ll-dev)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__sh__subcmd__ll__subcmd__dev"
                ;;
            basalt__subcmd__help__subcmd__adm,sh-md-dev)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__sh__subcmd__md__subcmd__dev"
                ;;
            basalt__subcmd__help__subcmd__adm,sh-md-idx)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__sh__subcmd__md__subcmd__idx"
                ;;
            basalt__subcmd__help__subcmd__adm,sh-minor)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__sh__subcmd__minor"
                ;;
            basalt__subcmd__help__subcmd__adm,sh-mod-parms)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__sh__subcmd__mod__subcmd__parms"
                ;;
            basalt__subcmd__help__subcmd__adm,sh-nop)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__sh__subcmd__nop"
                ;;
            basalt__subcmd__help__subcmd__adm,sh-resource)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__sh__subcmd__resource"
                ;;
            basalt__subcmd__help__subcmd__adm,sh-resources)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__sh__subcmd__resources"
                ;;
            basalt__subcmd__help__subcmd__adm,sh-udev)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__sh__subcmd__udev"
                ;;
            basalt__subcmd__help__subcmd__adm,show-gi)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__show__subcmd__gi"
                ;;
            basalt__subcmd__help__subcmd__adm,status)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__status"
                ;;
            basalt__subcmd__help__subcmd__adm,suspend-io)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__suspend__subcmd__io"
                ;;
            basalt__subcmd__help__subcmd__adm,up)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__up"
                ;;
            basalt__subcmd__help__subcmd__adm,verify)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__verify"
                ;;
            basalt__subcmd__help__subcmd__adm,wait-con-int)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__wait__subcmd__con__subcmd__int"
                ;;
            basalt__subcmd__help__subcmd__adm,wait-connect)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__wait__subcmd__connect"
                ;;
            basalt__subcmd__help__subcmd__adm,wait-sync)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__wait__subcmd__sync"
                ;;
            basalt__subcmd__help__subcmd__adm,wipe-md)
                cmd="basalt__subcmd__help__subcmd__adm__subcmd__wipe__subcmd__md"
                ;;
            basalt__subcmd__help__subcmd__bench,canary)
                cmd="basalt__subcmd__help__subcmd__bench__subcmd__canary"
                ;;
            basalt__subcmd__help__subcmd__bench,chaos)
                cmd="basalt__subcmd__help__subcmd__bench__subcmd__chaos"
                ;;
            basalt__subcmd__help__subcmd__bench,failover)
                cmd="basalt__subcmd__help__subcmd__bench__subcmd__failover"
                ;;
            basalt__subcmd__help__subcmd__bench,idle)
                cmd="basalt__subcmd__help__subcmd__bench__subcmd__idle"
                ;;
            basalt__subcmd__help__subcmd__bench,puppet)
                cmd="basalt__subcmd__help__subcmd__bench__subcmd__puppet"
                ;;
            basalt__subcmd__help__subcmd__bench,resync)
                cmd="basalt__subcmd__help__subcmd__bench__subcmd__resync"
                ;;
            basalt__subcmd__help__subcmd__bench,rows)
                cmd="basalt__subcmd__help__subcmd__bench__subcmd__rows"
                ;;
            basalt__subcmd__help__subcmd__bench,upgrade)
                cmd="basalt__subcmd__help__subcmd__bench__subcmd__upgrade"
                ;;
            basalt__subcmd__help__subcmd__bench,verify)
                cmd="basalt__subcmd__help__subcmd__bench__subcmd__verify"
                ;;
            basalt__subcmd__help__subcmd__bench,write)
                cmd="basalt__subcmd__help__subcmd__bench__subcmd__write"
                ;;
            basalt__subcmd__help__subcmd__device,remove)
                cmd="basalt__subcmd__help__subcmd__device__subcmd__remove"
                ;;
            basalt__subcmd__help__subcmd__pki,init)
                cmd="basalt__subcmd__help__subcmd__pki__subcmd__init"
                ;;
            basalt__subcmd__help__subcmd__pki,issue)
                cmd="basalt__subcmd__help__subcmd__pki__subcmd__issue"
                ;;
            basalt__subcmd__help__subcmd__pki,issue-client)
                cmd="basalt__subcmd__help__subcmd__pki__subcmd__issue__subcmd__client"
                ;;
            basalt__subcmd__help__subcmd__setup,attach)
                cmd="basalt__subcmd__help__subcmd__setup__subcmd__attach"
                ;;
            basalt__subcmd__help__subcmd__setup,check-resize)
                cmd="basalt__subcmd__help__subcmd__setup__subcmd__check__subcmd__resize"
                ;;
            basalt__subcmd__help__subcmd__setup,connect)
                cmd="basalt__subcmd__help__subcmd__setup__subcmd__connect"
                ;;
            basalt__subcmd__help__subcmd__setup,cstate)
                cmd="basalt__subcmd__help__subcmd__setup__subcmd__cstate"
                ;;
            basalt__subcmd__help__subcmd__setup,del-minor)
                cmd="basalt__subcmd__help__subcmd__setup__subcmd__del__subcmd__minor"
                ;;
            basalt__subcmd__help__subcmd__setup,del-path)
                cmd="basalt__subcmd__help__subcmd__setup__subcmd__del__subcmd__path"
                ;;
            basalt__subcmd__help__subcmd__setup,del-peer)
                cmd="basalt__subcmd__help__subcmd__setup__subcmd__del__subcmd__peer"
                ;;
            basalt__subcmd__help__subcmd__setup,del-resource)
                cmd="basalt__subcmd__help__subcmd__setup__subcmd__del__subcmd__resource"
                ;;
            basalt__subcmd__help__subcmd__setup,detach)
                cmd="basalt__subcmd__help__subcmd__setup__subcmd__detach"
                ;;
            basalt__subcmd__help__subcmd__setup,disconnect)
                cmd="basalt__subcmd__help__subcmd__setup__subcmd__disconnect"
                ;;
            basalt__subcmd__help__subcmd__setup,disk-options)
                cmd="basalt__subcmd__help__subcmd__setup__subcmd__disk__subcmd__options"
                ;;
            basalt__subcmd__help__subcmd__setup,down)
                cmd="basalt__subcmd__help__subcmd__setup__subcmd__down"
                ;;
            basalt__subcmd__help__subcmd__setup,dstate)
                cmd="basalt__subcmd__help__subcmd__setup__subcmd__dstate"
                ;;
            basalt__subcmd__help__subcmd__setup,events2)
                cmd="basalt__subcmd__help__subcmd__setup__subcmd__events2"
                ;;
            basalt__subcmd__help__subcmd__setup,forget-peer)
                cmd="basalt__subcmd__help__subcmd__setup__subcmd__forget__subcmd__peer"
                ;;
            basalt__subcmd__help__subcmd__setup,get-gi)
                cmd="basalt__subcmd__help__subcmd__setup__subcmd__get__subcmd__gi"
                ;;
            basalt__subcmd__help__subcmd__setup,invalidate)
                cmd="basalt__subcmd__help__subcmd__setup__subcmd__invalidate"
                ;;
            basalt__subcmd__help__subcmd__setup,invalidate-remote)
                cmd="basalt__subcmd__help__subcmd__setup__subcmd__invalidate__subcmd__remote"
                ;;
            basalt__subcmd__help__subcmd__setup,net-options)
                cmd="basalt__subcmd__help__subcmd__setup__subcmd__net__subcmd__options"
                ;;
            basalt__subcmd__help__subcmd__setup,new-current-uuid)
                cmd="basalt__subcmd__help__subcmd__setup__subcmd__new__subcmd__current__subcmd__uuid"
                ;;
            basalt__subcmd__help__subcmd__setup,new-minor)
                cmd="basalt__subcmd__help__subcmd__setup__subcmd__new__subcmd__minor"
                ;;
            basalt__subcmd__help__subcmd__setup,new-path)
                cmd="basalt__subcmd__help__subcmd__setup__subcmd__new__subcmd__path"
                ;;
            basalt__subcmd__help__subcmd__setup,new-peer)
                cmd="basalt__subcmd__help__subcmd__setup__subcmd__new__subcmd__peer"
                ;;
            basalt__subcmd__help__subcmd__setup,new-resource)
                cmd="basalt__subcmd__help__subcmd__setup__subcmd__new__subcmd__resource"
                ;;
            basalt__subcmd__help__subcmd__setup,outdate)
                cmd="basalt__subcmd__help__subcmd__setup__subcmd__outdate"
                ;;
            basalt__subcmd__help__subcmd__setup,pause-sync)
                cmd="basalt__subcmd__help__subcmd__setup__subcmd__pause__subcmd__sync"
                ;;
            basalt__subcmd__help__subcmd__setup,peer-device-options)
                cmd="basalt__subcmd__help__subcmd__setup__subcmd__peer__subcmd__device__subcmd__options"
                ;;
            basalt__subcmd__help__subcmd__setup,primary)
                cmd="basalt__subcmd__help__subcmd__setup__subcmd__primary"
                ;;
            basalt__subcmd__help__subcmd__setup,rename-resource)
                cmd="basalt__subcmd__help__subcmd__setup__subcmd__rename__subcmd__resource"
                ;;
            basalt__subcmd__help__subcmd__setup,resize)
                cmd="basalt__subcmd__help__subcmd__setup__subcmd__resize"
                ;;
            basalt__subcmd__help__subcmd__setup,resource-options)
                cmd="basalt__subcmd__help__subcmd__setup__subcmd__resource__subcmd__options"
                ;;
            basalt__subcmd__help__subcmd__setup,resume-io)
                cmd="basalt__subcmd__help__subcmd__setup__subcmd__resume__subcmd__io"
                ;;
            basalt__subcmd__help__subcmd__setup,resume-sync)
                cmd="basalt__subcmd__help__subcmd__setup__subcmd__resume__subcmd__sync"
                ;;
            basalt__subcmd__help__subcmd__setup,role)
                cmd="basalt__subcmd__help__subcmd__setup__subcmd__role"
                ;;
            basalt__subcmd__help__subcmd__setup,secondary)
                cmd="basalt__subcmd__help__subcmd__setup__subcmd__secondary"
                ;;
            basalt__subcmd__help__subcmd__setup,show)
                cmd="basalt__subcmd__help__subcmd__setup__subcmd__show"
                ;;
            basalt__subcmd__help__subcmd__setup,show-gi)
                cmd="basalt__subcmd__help__subcmd__setup__subcmd__show__subcmd__gi"
                ;;
            basalt__subcmd__help__subcmd__setup,status)
                cmd="basalt__subcmd__help__subcmd__setup__subcmd__status"
                ;;
            basalt__subcmd__help__subcmd__setup,suspend-io)
                cmd="basalt__subcmd__help__subcmd__setup__subcmd__suspend__subcmd__io"
                ;;
            basalt__subcmd__help__subcmd__setup,udev)
                cmd="basalt__subcmd__help__subcmd__setup__subcmd__udev"
                ;;
            basalt__subcmd__help__subcmd__setup,verify)
                cmd="basalt__subcmd__help__subcmd__setup__subcmd__verify"
                ;;
            basalt__subcmd__help__subcmd__setup,wait-connect-connection)
                cmd="basalt__subcmd__help__subcmd__setup__subcmd__wait__subcmd__connect__subcmd__connection"
                ;;
            basalt__subcmd__help__subcmd__setup,wait-connect-resource)
                cmd="basalt__subcmd__help__subcmd__setup__subcmd__wait__subcmd__connect__subcmd__resource"
                ;;
            basalt__subcmd__help__subcmd__setup,wait-connect-volume)
                cmd="basalt__subcmd__help__subcmd__setup__subcmd__wait__subcmd__connect__subcmd__volume"
                ;;
            basalt__subcmd__help__subcmd__setup,wait-sync-connection)
                cmd="basalt__subcmd__help__subcmd__setup__subcmd__wait__subcmd__sync__subcmd__connection"
                ;;
            basalt__subcmd__help__subcmd__setup,wait-sync-resource)
                cmd="basalt__subcmd__help__subcmd__setup__subcmd__wait__subcmd__sync__subcmd__resource"
                ;;
            basalt__subcmd__help__subcmd__setup,wait-sync-volume)
                cmd="basalt__subcmd__help__subcmd__setup__subcmd__wait__subcmd__sync__subcmd__volume"
                ;;
            basalt__subcmd__pki,help)
                cmd="basalt__subcmd__pki__subcmd__help"
                ;;
            basalt__subcmd__pki,init)
                cmd="basalt__subcmd__pki__subcmd__init"
                ;;
            basalt__subcmd__pki,issue)
                cmd="basalt__subcmd__pki__subcmd__issue"
                ;;
            basalt__subcmd__pki,issue-client)
                cmd="basalt__subcmd__pki__subcmd__issue__subcmd__client"
                ;;
            basalt__subcmd__pki__subcmd__help,help)
                cmd="basalt__subcmd__pki__subcmd__help__subcmd__help"
                ;;
            basalt__subcmd__pki__subcmd__help,init)
                cmd="basalt__subcmd__pki__subcmd__help__subcmd__init"
                ;;
            basalt__subcmd__pki__subcmd__help,issue)
                cmd="basalt__subcmd__pki__subcmd__help__subcmd__issue"
                ;;
            basalt__subcmd__pki__subcmd__help,issue-client)
                cmd="basalt__subcmd__pki__subcmd__help__subcmd__issue__subcmd__client"
                ;;
            basalt__subcmd__setup,attach)
                cmd="basalt__subcmd__setup__subcmd__attach"
                ;;
            basalt__subcmd__setup,check-resize)
                cmd="basalt__subcmd__setup__subcmd__check__subcmd__resize"
                ;;
            basalt__subcmd__setup,connect)
                cmd="basalt__subcmd__setup__subcmd__connect"
                ;;
            basalt__subcmd__setup,cstate)
                cmd="basalt__subcmd__setup__subcmd__cstate"
                ;;
            basalt__subcmd__setup,del-minor)
                cmd="basalt__subcmd__setup__subcmd__del__subcmd__minor"
                ;;
            basalt__subcmd__setup,del-path)
                cmd="basalt__subcmd__setup__subcmd__del__subcmd__path"
                ;;
            basalt__subcmd__setup,del-peer)
                cmd="basalt__subcmd__setup__subcmd__del__subcmd__peer"
                ;;
            basalt__subcmd__setup,del-resource)
                cmd="basalt__subcmd__setup__subcmd__del__subcmd__resource"
                ;;
            basalt__subcmd__setup,detach)
                cmd="basalt__subcmd__setup__subcmd__detach"
                ;;
            basalt__subcmd__setup,disconnect)
                cmd="basalt__subcmd__setup__subcmd__disconnect"
                ;;
            basalt__subcmd__setup,disk-options)
                cmd="basalt__subcmd__setup__subcmd__disk__subcmd__options"
                ;;
            basalt__subcmd__setup,down)
                cmd="basalt__subcmd__setup__subcmd__down"
                ;;
            basalt__subcmd__setup,dstate)
                cmd="basalt__subcmd__setup__subcmd__dstate"
                ;;
            basalt__subcmd__setup,events2)
                cmd="basalt__subcmd__setup__subcmd__events2"
                ;;
            basalt__subcmd__setup,forget-peer)
                cmd="basalt__subcmd__setup__subcmd__forget__subcmd__peer"
                ;;
            basalt__subcmd__setup,get-gi)
                cmd="basalt__subcmd__setup__subcmd__get__subcmd__gi"
                ;;
            basalt__subcmd__setup,help)
                cmd="basalt__subcmd__setup__subcmd__help"
                ;;
            basalt__subcmd__setup,invalidate)
                cmd="basalt__subcmd__setup__subcmd__invalidate"
                ;;
            basalt__subcmd__setup,invalidate-remote)
                cmd="basalt__subcmd__setup__subcmd__invalidate__subcmd__remote"
                ;;
            basalt__subcmd__setup,net-options)
                cmd="basalt__subcmd__setup__subcmd__net__subcmd__options"
                ;;
            basalt__subcmd__setup,new-current-uuid)
                cmd="basalt__subcmd__setup__subcmd__new__subcmd__current__subcmd__uuid"
                ;;
            basalt__subcmd__setup,new-minor)
                cmd="basalt__subcmd__setup__subcmd__new__subcmd__minor"
                ;;
            basalt__subcmd__setup,new-path)
                cmd="basalt__subcmd__setup__subcmd__new__subcmd__path"
                ;;
            basalt__subcmd__setup,new-peer)
                cmd="basalt__subcmd__setup__subcmd__new__subcmd__peer"
                ;;
            basalt__subcmd__setup,new-resource)
                cmd="basalt__subcmd__setup__subcmd__new__subcmd__resource"
                ;;
            basalt__subcmd__setup,outdate)
                cmd="basalt__subcmd__setup__subcmd__outdate"
                ;;
            basalt__subcmd__setup,pause-sync)
                cmd="basalt__subcmd__setup__subcmd__pause__subcmd__sync"
                ;;
            basalt__subcmd__setup,peer-device-options)
                cmd="basalt__subcmd__setup__subcmd__peer__subcmd__device__subcmd__options"
                ;;
            basalt__subcmd__setup,primary)
                cmd="basalt__subcmd__setup__subcmd__primary"
                ;;
            basalt__subcmd__setup,rename-resource)
                cmd="basalt__subcmd__setup__subcmd__rename__subcmd__resource"
                ;;
            basalt__subcmd__setup,resize)
                cmd="basalt__subcmd__setup__subcmd__resize"
                ;;
            basalt__subcmd__setup,resource-options)
                cmd="basalt__subcmd__setup__subcmd__resource__subcmd__options"
                ;;
            basalt__subcmd__setup,resume-io)
                cmd="basalt__subcmd__setup__subcmd__resume__subcmd__io"
                ;;
            basalt__subcmd__setup,resume-sync)
                cmd="basalt__subcmd__setup__subcmd__resume__subcmd__sync"
                ;;
            basalt__subcmd__setup,role)
                cmd="basalt__subcmd__setup__subcmd__role"
                ;;
            basalt__subcmd__setup,secondary)
                cmd="basalt__subcmd__setup__subcmd__secondary"
                ;;
            basalt__subcmd__setup,show)
                cmd="basalt__subcmd__setup__subcmd__show"
                ;;
            basalt__subcmd__setup,show-gi)
                cmd="basalt__subcmd__setup__subcmd__show__subcmd__gi"
                ;;
            basalt__subcmd__setup,status)
                cmd="basalt__subcmd__setup__subcmd__status"
                ;;
            basalt__subcmd__setup,suspend-io)
                cmd="basalt__subcmd__setup__subcmd__suspend__subcmd__io"
                ;;
            basalt__subcmd__setup,udev)
                cmd="basalt__subcmd__setup__subcmd__udev"
                ;;
            basalt__subcmd__setup,verify)
                cmd="basalt__subcmd__setup__subcmd__verify"
                ;;
            basalt__subcmd__setup,wait-connect-connection)
                cmd="basalt__subcmd__setup__subcmd__wait__subcmd__connect__subcmd__connection"
                ;;
            basalt__subcmd__setup,wait-connect-resource)
                cmd="basalt__subcmd__setup__subcmd__wait__subcmd__connect__subcmd__resource"
                ;;
            basalt__subcmd__setup,wait-connect-volume)
                cmd="basalt__subcmd__setup__subcmd__wait__subcmd__connect__subcmd__volume"
                ;;
            basalt__subcmd__setup,wait-sync-connection)
                cmd="basalt__subcmd__setup__subcmd__wait__subcmd__sync__subcmd__connection"
                ;;
            basalt__subcmd__setup,wait-sync-resource)
                cmd="basalt__subcmd__setup__subcmd__wait__subcmd__sync__subcmd__resource"
                ;;
            basalt__subcmd__setup,wait-sync-volume)
                cmd="basalt__subcmd__setup__subcmd__wait__subcmd__sync__subcmd__volume"
                ;;
            basalt__subcmd__setup__subcmd__help,attach)
                cmd="basalt__subcmd__setup__subcmd__help__subcmd__attach"
                ;;
            basalt__subcmd__setup__subcmd__help,check-resize)
                cmd="basalt__subcmd__setup__subcmd__help__subcmd__check__subcmd__resize"
                ;;
            basalt__subcmd__setup__subcmd__help,connect)
                cmd="basalt__subcmd__setup__subcmd__help__subcmd__connect"
                ;;
            basalt__subcmd__setup__subcmd__help,cstate)
                cmd="basalt__subcmd__setup__subcmd__help__subcmd__cstate"
                ;;
            basalt__subcmd__setup__subcmd__help,del-minor)
                cmd="basalt__subcmd__setup__subcmd__help__subcmd__del__subcmd__minor"
                ;;
            basalt__subcmd__setup__subcmd__help,del-path)
                cmd="basalt__subcmd__setup__subcmd__help__subcmd__del__subcmd__path"
                ;;
            basalt__subcmd__setup__subcmd__help,del-peer)
                cmd="basalt__subcmd__setup__subcmd__help__subcmd__del__subcmd__peer"
                ;;
            basalt__subcmd__setup__subcmd__help,del-resource)
                cmd="basalt__subcmd__setup__subcmd__help__subcmd__del__subcmd__resource"
                ;;
            basalt__subcmd__setup__subcmd__help,detach)
                cmd="basalt__subcmd__setup__subcmd__help__subcmd__detach"
                ;;
            basalt__subcmd__setup__subcmd__help,disconnect)
                cmd="basalt__subcmd__setup__subcmd__help__subcmd__disconnect"
                ;;
            basalt__subcmd__setup__subcmd__help,disk-options)
                cmd="basalt__subcmd__setup__subcmd__help__subcmd__disk__subcmd__options"
                ;;
            basalt__subcmd__setup__subcmd__help,down)
                cmd="basalt__subcmd__setup__subcmd__help__subcmd__down"
                ;;
            basalt__subcmd__setup__subcmd__help,dstate)
                cmd="basalt__subcmd__setup__subcmd__help__subcmd__dstate"
                ;;
            basalt__subcmd__setup__subcmd__help,events2)
                cmd="basalt__subcmd__setup__subcmd__help__subcmd__events2"
                ;;
            basalt__subcmd__setup__subcmd__help,forget-peer)
                cmd="basalt__subcmd__setup__subcmd__help__subcmd__forget__subcmd__peer"
                ;;
            basalt__subcmd__setup__subcmd__help,get-gi)
                cmd="basalt__subcmd__setup__subcmd__help__subcmd__get__subcmd__gi"
                ;;
            basalt__subcmd__setup__subcmd__help,help)
                cmd="basalt__subcmd__setup__subcmd__help__subcmd__help"
                ;;
            basalt__subcmd__setup__subcmd__help,invalidate)
                cmd="basalt__subcmd__setup__subcmd__help__subcmd__invalidate"
                ;;
            basalt__subcmd__setup__subcmd__help,invalidate-remote)
                cmd="basalt__subcmd__setup__subcmd__help__subcmd__invalidate__subcmd__remote"
                ;;
            basalt__subcmd__setup__subcmd__help,net-options)
                cmd="basalt__subcmd__setup__subcmd__help__subcmd__net__subcmd__options"
                ;;
            basalt__subcmd__setup__subcmd__help,new-current-uuid)
                cmd="basalt__subcmd__setup__subcmd__help__subcmd__new__subcmd__current__subcmd__uuid"
                ;;
            basalt__subcmd__setup__subcmd__help,new-minor)
                cmd="basalt__subcmd__setup__subcmd__help__subcmd__new__subcmd__minor"
                ;;
            basalt__subcmd__setup__subcmd__help,new-path)
                cmd="basalt__subcmd__setup__subcmd__help__subcmd__new__subcmd__path"
                ;;
            basalt__subcmd__setup__subcmd__help,new-peer)
                cmd="basalt__subcmd__setup__subcmd__help__subcmd__new__subcmd__peer"
                ;;
            basalt__subcmd__setup__subcmd__help,new-resource)
                cmd="basalt__subcmd__setup__subcmd__help__subcmd__new__subcmd__resource"
                ;;
            basalt__subcmd__setup__subcmd__help,outdate)
                cmd="basalt__subcmd__setup__subcmd__help__subcmd__outdate"
                ;;
            basalt__subcmd__setup__subcmd__help,pause-sync)
                cmd="basalt__subcmd__setup__subcmd__help__subcmd__pause__subcmd__sync"
                ;;
            basalt__subcmd__setup__subcmd__help,peer-device-options)
                cmd="basalt__subcmd__setup__subcmd__help__subcmd__peer__subcmd__device__subcmd__options"
                ;;
            basalt__subcmd__setup__subcmd__help,primary)
                cmd="basalt__subcmd__setup__subcmd__help__subcmd__primary"
                ;;
            basalt__subcmd__setup__subcmd__help,rename-resource)
                cmd="basalt__subcmd__setup__subcmd__help__subcmd__rename__subcmd__resource"
                ;;
            basalt__subcmd__setup__subcmd__help,resize)
                cmd="basalt__subcmd__setup__subcmd__help__subcmd__resize"
                ;;
            basalt__subcmd__setup__subcmd__help,resource-options)
                cmd="basalt__subcmd__setup__subcmd__help__subcmd__resource__subcmd__options"
                ;;
            basalt__subcmd__setup__subcmd__help,resume-io)
                cmd="basalt__subcmd__setup__subcmd__help__subcmd__resume__subcmd__io"
                ;;
            basalt__subcmd__setup__subcmd__help,resume-sync)
                cmd="basalt__subcmd__setup__subcmd__help__subcmd__resume__subcmd__sync"
                ;;
            basalt__subcmd__setup__subcmd__help,role)
                cmd="basalt__subcmd__setup__subcmd__help__subcmd__role"
                ;;
            basalt__subcmd__setup__subcmd__help,secondary)
                cmd="basalt__subcmd__setup__subcmd__help__subcmd__secondary"
                ;;
            basalt__subcmd__setup__subcmd__help,show)
                cmd="basalt__subcmd__setup__subcmd__help__subcmd__show"
                ;;
            basalt__subcmd__setup__subcmd__help,show-gi)
                cmd="basalt__subcmd__setup__subcmd__help__subcmd__show__subcmd__gi"
                ;;
            basalt__subcmd__setup__subcmd__help,status)
                cmd="basalt__subcmd__setup__subcmd__help__subcmd__status"
                ;;
            basalt__subcmd__setup__subcmd__help,suspend-io)
                cmd="basalt__subcmd__setup__subcmd__help__subcmd__suspend__subcmd__io"
                ;;
            basalt__subcmd__setup__subcmd__help,udev)
                cmd="basalt__subcmd__setup__subcmd__help__subcmd__udev"
                ;;
            basalt__subcmd__setup__subcmd__help,verify)
                cmd="basalt__subcmd__setup__subcmd__help__subcmd__verify"
                ;;
            basalt__subcmd__setup__subcmd__help,wait-connect-connection)
                cmd="basalt__subcmd__setup__subcmd__help__subcmd__wait__subcmd__connect__subcmd__connection"
                ;;
            basalt__subcmd__setup__subcmd__help,wait-connect-resource)
                cmd="basalt__subcmd__setup__subcmd__help__subcmd__wait__subcmd__connect__subcmd__resource"
                ;;
            basalt__subcmd__setup__subcmd__help,wait-connect-volume)
                cmd="basalt__subcmd__setup__subcmd__help__subcmd__wait__subcmd__connect__subcmd__volume"
                ;;
            basalt__subcmd__setup__subcmd__help,wait-sync-connection)
                cmd="basalt__subcmd__setup__subcmd__help__subcmd__wait__subcmd__sync__subcmd__connection"
                ;;
            basalt__subcmd__setup__subcmd__help,wait-sync-resource)
                cmd="basalt__subcmd__setup__subcmd__help__subcmd__wait__subcmd__sync__subcmd__resource"
                ;;
            basalt__subcmd__setup__subcmd__help,wait-sync-volume)
                cmd="basalt__subcmd__setup__subcmd__help__subcmd__wait__subcmd__sync__subcmd__volume"
                ;;
            *)
                ;;
        esac
    done

    case "${cmd}" in
        basalt)
            opts="-h --help explain top device pki install-links bench demo node adm setup help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 1 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm)
            opts="-c -d -v -t -h --config-file --node-socket --dry-run --verbose --json --timeout --config-to-test --help create-md adopt-drbd adopt up down adjust adjust-with-progress attach detach connect disconnect primary new-current-uuid secondary status explain report events2 role cstate dstate wait-connect wait-con-int wait-sync dump dump-xml sh-nop sh-mod-parms sh-resources sh-list-adjustable sh-list-config-file sh-resource sh-dev sh-minor sh-ll-dev sh-md-dev sh-md-idx sh-ip sh-udev new-resource new-minor new-peer new-path del-peer del-path del-minor check-resize outdate peer-role hidden-commands apply-al repair-md forget-peer invalidate-remote pause-sync resume-sync disk-options net-options resource-options peer-device-options dump-md dump-superblock get-gi show-gi wipe-md set-gi invalidate verify suspend-io resume-io reopen resize help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config-to-test)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -t)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__adjust)
            opts="-c -d -v -h --skip-disk --skip-net --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__adopt)
            opts="-c -d -v -h --save --from --without --in-doubt --node --state-dir --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --save)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --from)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --without)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --state-dir)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__adopt__subcmd__drbd)
            opts="-c -d -v -h --rollback --same-as --drbd-meta-disk --max-peers --node --state-dir --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --same-as)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --drbd-meta-disk)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-peers)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --state-dir)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__apply__subcmd__al)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__attach)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__check__subcmd__resize)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__connect)
            opts="-c -d -v -h --discard-my-data --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__create__subcmd__md)
            opts="-c -d -v -h --force --max-peers --node --state-dir --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --max-peers)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --state-dir)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__cstate)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__del__subcmd__minor)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__del__subcmd__path)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__del__subcmd__peer)
            opts="-c -d -v -h --force --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__detach)
            opts="-c -d -v -h --force --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__disconnect)
            opts="-c -d -v -h --force --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__disk__subcmd__options)
            opts="-c -d -v -h --set-defaults --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__down)
            opts="-c -d -v -h --force --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__dstate)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__dump)
            opts="-c -d -v -h --strict --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__dump__subcmd__md)
            opts="-c -d -v -h --node --state-dir --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --node)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --state-dir)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__dump__subcmd__xml)
            opts="-c -d -v -h --strict --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__events2)
            opts="-s -c -d -v -h --now --timestamps --statistics --diff --full --poll --color --rcvbuf --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "always auto never" -- "${cur}"))
                    return 0
                    ;;
                --rcvbuf)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__explain)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__forget__subcmd__peer)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__get__subcmd__gi)
            opts="-c -d -v -h --node --state-dir --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --node)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --state-dir)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help)
            opts="create-md adopt-drbd adopt up down adjust attach detach connect disconnect primary new-current-uuid secondary status explain report events2 role cstate dstate wait-connect wait-con-int wait-sync dump dump-xml sh-nop sh-mod-parms sh-resources sh-list-adjustable sh-list-config-file sh-resource sh-dev sh-minor sh-ll-dev sh-md-dev sh-md-idx sh-ip sh-udev new-resource new-minor new-peer new-path del-peer del-path del-minor check-resize outdate peer-role hidden-commands apply-al repair-md forget-peer invalidate-remote pause-sync resume-sync disk-options net-options resource-options peer-device-options dump-md get-gi show-gi wipe-md set-gi invalidate verify suspend-io resume-io reopen resize help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__adjust)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__adopt)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__adopt__subcmd__drbd)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__apply__subcmd__al)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__attach)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__check__subcmd__resize)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__connect)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__create__subcmd__md)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__cstate)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__del__subcmd__minor)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__del__subcmd__path)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__del__subcmd__peer)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__detach)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__disconnect)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__disk__subcmd__options)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__down)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__dstate)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__dump)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__dump__subcmd__md)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__dump__subcmd__xml)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__events2)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__explain)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__forget__subcmd__peer)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__get__subcmd__gi)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__help)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__hidden__subcmd__commands)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__invalidate)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__invalidate__subcmd__remote)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__net__subcmd__options)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__new__subcmd__current__subcmd__uuid)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__new__subcmd__minor)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__new__subcmd__path)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__new__subcmd__peer)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__new__subcmd__resource)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__outdate)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__pause__subcmd__sync)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__peer__subcmd__device__subcmd__options)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__peer__subcmd__role)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__primary)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__reopen)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__repair__subcmd__md)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__report)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__resize)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__resource__subcmd__options)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__resume__subcmd__io)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__resume__subcmd__sync)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__role)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__secondary)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__set__subcmd__gi)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__sh__subcmd__dev)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__sh__subcmd__ip)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__sh__subcmd__list__subcmd__adjustable)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__sh__subcmd__list__subcmd__config__subcmd__file)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__sh__subcmd__ll__subcmd__dev)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__sh__subcmd__md__subcmd__dev)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__sh__subcmd__md__subcmd__idx)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__sh__subcmd__minor)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__sh__subcmd__mod__subcmd__parms)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__sh__subcmd__nop)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__sh__subcmd__resource)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__sh__subcmd__resources)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__sh__subcmd__udev)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__show__subcmd__gi)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__status)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__suspend__subcmd__io)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__up)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__verify)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__wait__subcmd__con__subcmd__int)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__wait__subcmd__connect)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__wait__subcmd__sync)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__help__subcmd__wipe__subcmd__md)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__hidden__subcmd__commands)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__invalidate)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__invalidate__subcmd__remote)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__net__subcmd__options)
            opts="-c -d -v -h --set-defaults --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__new__subcmd__current__subcmd__uuid)
            opts="-c -d -v -h --clear-bitmap --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__new__subcmd__minor)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__new__subcmd__path)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__new__subcmd__peer)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__new__subcmd__resource)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__outdate)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__pause__subcmd__sync)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__peer__subcmd__device__subcmd__options)
            opts="-c -d -v -h --set-defaults --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__peer__subcmd__role)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__primary)
            opts="-c -d -v -h --force --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__reopen)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__repair__subcmd__md)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__report)
            opts="-c -d -v -h --dir --state-dir --log --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --dir)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --state-dir)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__resize)
            opts="-s -c -d -v -h --size --assume-clean --assume-peer-has-space --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -s)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__resource__subcmd__options)
            opts="-c -d -v -h --set-defaults --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__resume__subcmd__io)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__resume__subcmd__sync)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__role)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__secondary)
            opts="-c -d -v -h --force --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__set__subcmd__gi)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__sh__subcmd__dev)
            opts="-c -d -v -h --node --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --node)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__sh__subcmd__ip)
            opts="-c -d -v -h --node --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --node)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__sh__subcmd__list__subcmd__adjustable)
            opts="-c -d -v -h --node --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --node)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__sh__subcmd__list__subcmd__config__subcmd__file)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__sh__subcmd__ll__subcmd__dev)
            opts="-c -d -v -h --node --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --node)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__sh__subcmd__md__subcmd__dev)
            opts="-c -d -v -h --node --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --node)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__sh__subcmd__md__subcmd__idx)
            opts="-c -d -v -h --node --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --node)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__sh__subcmd__minor)
            opts="-c -d -v -h --node --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --node)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__sh__subcmd__mod__subcmd__parms)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__sh__subcmd__nop)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__sh__subcmd__resource)
            opts="-c -d -v -h --node --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --node)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__sh__subcmd__resources)
            opts="-c -d -v -h --node --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --node)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__sh__subcmd__udev)
            opts="-c -d -v -h --node --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --node)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__show__subcmd__gi)
            opts="-c -d -v -h --node --state-dir --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --node)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --state-dir)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__status)
            opts="-s -c -d -v -h --statistics --color --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "always auto never" -- "${cur}"))
                    return 0
                    ;;
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__suspend__subcmd__io)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__up)
            opts="-c -d -v -h --node --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --node)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__verify)
            opts="-s -S -c -d -v -h --start --stop --repair --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --start)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -s)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --stop)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -S)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__wait__subcmd__con__subcmd__int)
            opts="-c -d -v -h --wfc-timeout --degr-wfc-timeout --outdated-wfc-timeout --wait-after-sb --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --wfc-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --degr-wfc-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --outdated-wfc-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__wait__subcmd__connect)
            opts="-c -d -v -h --wfc-timeout --degr-wfc-timeout --outdated-wfc-timeout --wait-after-sb --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --wfc-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --degr-wfc-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --outdated-wfc-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__wait__subcmd__sync)
            opts="-c -d -v -h --wfc-timeout --degr-wfc-timeout --outdated-wfc-timeout --wait-after-sb --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --wfc-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --degr-wfc-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --outdated-wfc-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__adm__subcmd__wipe__subcmd__md)
            opts="-c -d -v -h --force --node --state-dir --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --node)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --state-dir)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__bench)
            opts="-h --nodes --volumes --seconds --warm-up --size-mib --short --place --hosts --shards --peer --out --json --help verify canary write rows idle resync chaos failover upgrade puppet help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --nodes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --volumes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --seconds)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --warm-up)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --size-mib)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --place)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hosts)
                    COMPREPLY=($(compgen -W "loopback namespaces" -- "${cur}"))
                    return 0
                    ;;
                --shards)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --peer)
                    COMPREPLY=($(compgen -W "quorum nbdkit" -- "${cur}"))
                    return 0
                    ;;
                --out)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__bench__subcmd__canary)
            opts="-h --json --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__bench__subcmd__chaos)
            opts="-h --seconds --replicas --clients --shards --disks --schedule --place --span-mib --connections --depth --seed --answer-limit --reconnect-limit --json --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --seconds)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --replicas)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --clients)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --shards)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --disks)
                    COMPREPLY=($(compgen -W "plain volatile lying failing" -- "${cur}"))
                    return 0
                    ;;
                --schedule)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --place)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --span-mib)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --connections)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --depth)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --seed)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --answer-limit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --reconnect-limit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__bench__subcmd__failover)
            opts="-h --rounds --restarts --place --json --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --rounds)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --restarts)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --place)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__bench__subcmd__help)
            opts="verify canary write rows idle resync chaos failover upgrade puppet help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__bench__subcmd__help__subcmd__canary)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__bench__subcmd__help__subcmd__chaos)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__bench__subcmd__help__subcmd__failover)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__bench__subcmd__help__subcmd__help)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__bench__subcmd__help__subcmd__idle)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__bench__subcmd__help__subcmd__puppet)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__bench__subcmd__help__subcmd__resync)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__bench__subcmd__help__subcmd__rows)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__bench__subcmd__help__subcmd__upgrade)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__bench__subcmd__help__subcmd__verify)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__bench__subcmd__help__subcmd__write)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__bench__subcmd__idle)
            opts="-h --volumes --size-mib --writes --primary --seconds --place --json --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --volumes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --size-mib)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --writes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --seconds)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --place)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__bench__subcmd__puppet)
            opts="-h --size-mib --place --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --size-mib)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --place)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__bench__subcmd__resync)
            opts="-h --rounds --absence --away --base --size-mib --depth --place --json --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --rounds)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --absence)
                    COMPREPLY=($(compgen -W "frozen killed" -- "${cur}"))
                    return 0
                    ;;
                --away)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --base)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --size-mib)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --depth)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --place)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__bench__subcmd__rows)
            opts="-h --row --seconds --repeat --size-mib --place --disk --shards --placement --link-mbit --json --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --row)
                    COMPREPLY=($(compgen -W "write-32 write-128 write-1 read-local read-client sequential-write sequential-read-links commit" -- "${cur}"))
                    return 0
                    ;;
                --seconds)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --repeat)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --size-mib)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --place)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --disk)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --shards)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --placement)
                    COMPREPLY=($(compgen -W "any split one" -- "${cur}"))
                    return 0
                    ;;
                --link-mbit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__bench__subcmd__upgrade)
            opts="-h --other --place --span-mib --connections --depth --seed --answer-limit --reconnect-limit --json --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --other)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --place)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --span-mib)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --connections)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --depth)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --seed)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --answer-limit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --reconnect-limit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__bench__subcmd__verify)
            opts="-h --nbd --seconds --kill-schedule --kills --victims --place --shards --span-mib --connections --depth --seed --answer-limit --reconnect-limit --json --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --nbd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --seconds)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kill-schedule)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kills)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --victims)
                    COMPREPLY=($(compgen -W "primary secondary sync-target both-secondaries everyone" -- "${cur}"))
                    return 0
                    ;;
                --place)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --shards)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --span-mib)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --connections)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --depth)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --seed)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --answer-limit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --reconnect-limit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__bench__subcmd__write)
            opts="-h --depth --seconds --repeat --size-mib --place --shards --systems --json --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --depth)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --seconds)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --repeat)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --size-mib)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --place)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --shards)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --systems)
                    COMPREPLY=($(compgen -W "basalt quorum nbdkit" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__demo)
            opts="-h --fio --seconds-scale --size-mib --place --json --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --seconds-scale)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --size-mib)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --place)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__device)
            opts="-h --help remove help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__device__subcmd__help)
            opts="remove help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__device__subcmd__help__subcmd__help)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__device__subcmd__help__subcmd__remove)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__device__subcmd__remove)
            opts="-h --force --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__explain)
            opts="-h --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help)
            opts="explain top device pki install-links bench demo node adm setup help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm)
            opts="create-md adopt-drbd adopt up down adjust attach detach connect disconnect primary new-current-uuid secondary status explain report events2 role cstate dstate wait-connect wait-con-int wait-sync dump dump-xml sh-nop sh-mod-parms sh-resources sh-list-adjustable sh-list-config-file sh-resource sh-dev sh-minor sh-ll-dev sh-md-dev sh-md-idx sh-ip sh-udev new-resource new-minor new-peer new-path del-peer del-path del-minor check-resize outdate peer-role hidden-commands apply-al repair-md forget-peer invalidate-remote pause-sync resume-sync disk-options net-options resource-options peer-device-options dump-md get-gi show-gi wipe-md set-gi invalidate verify suspend-io resume-io reopen resize"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__adjust)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__adopt)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__adopt__subcmd__drbd)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__apply__subcmd__al)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__attach)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__check__subcmd__resize)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__connect)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__create__subcmd__md)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__cstate)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__del__subcmd__minor)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__del__subcmd__path)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__del__subcmd__peer)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__detach)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__disconnect)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__disk__subcmd__options)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__down)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__dstate)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__dump)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__dump__subcmd__md)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__dump__subcmd__xml)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__events2)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__explain)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__forget__subcmd__peer)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__get__subcmd__gi)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__hidden__subcmd__commands)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__invalidate)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__invalidate__subcmd__remote)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__net__subcmd__options)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__new__subcmd__current__subcmd__uuid)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__new__subcmd__minor)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__new__subcmd__path)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__new__subcmd__peer)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__new__subcmd__resource)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__outdate)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__pause__subcmd__sync)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__peer__subcmd__device__subcmd__options)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__peer__subcmd__role)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__primary)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__reopen)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__repair__subcmd__md)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__report)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__resize)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__resource__subcmd__options)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__resume__subcmd__io)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__resume__subcmd__sync)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__role)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__secondary)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__set__subcmd__gi)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__sh__subcmd__dev)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__sh__subcmd__ip)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__sh__subcmd__list__subcmd__adjustable)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__sh__subcmd__list__subcmd__config__subcmd__file)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__sh__subcmd__ll__subcmd__dev)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__sh__subcmd__md__subcmd__dev)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__sh__subcmd__md__subcmd__idx)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__sh__subcmd__minor)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__sh__subcmd__mod__subcmd__parms)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__sh__subcmd__nop)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__sh__subcmd__resource)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__sh__subcmd__resources)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__sh__subcmd__udev)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__show__subcmd__gi)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__status)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__suspend__subcmd__io)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__up)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__verify)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__wait__subcmd__con__subcmd__int)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__wait__subcmd__connect)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__wait__subcmd__sync)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__adm__subcmd__wipe__subcmd__md)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__bench)
            opts="verify canary write rows idle resync chaos failover upgrade puppet"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__bench__subcmd__canary)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__bench__subcmd__chaos)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__bench__subcmd__failover)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__bench__subcmd__idle)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__bench__subcmd__puppet)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__bench__subcmd__resync)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__bench__subcmd__rows)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__bench__subcmd__upgrade)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__bench__subcmd__verify)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__bench__subcmd__write)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__demo)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__device)
            opts="remove"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__device__subcmd__remove)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__explain)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__help)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__install__subcmd__links)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__node)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__pki)
            opts="init issue issue-client"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__pki__subcmd__init)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__pki__subcmd__issue)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__pki__subcmd__issue__subcmd__client)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__setup)
            opts="status events2 show role cstate dstate down primary secondary connect disconnect detach resize invalidate suspend-io resume-io new-current-uuid invalidate-remote outdate verify get-gi show-gi check-resize pause-sync resume-sync udev del-minor del-peer forget-peer del-resource rename-resource new-resource new-minor new-peer new-path del-path attach resource-options disk-options net-options peer-device-options wait-connect-resource wait-connect-connection wait-connect-volume wait-sync-resource wait-sync-connection wait-sync-volume"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__setup__subcmd__attach)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__setup__subcmd__check__subcmd__resize)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__setup__subcmd__connect)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__setup__subcmd__cstate)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__setup__subcmd__del__subcmd__minor)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__setup__subcmd__del__subcmd__path)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__setup__subcmd__del__subcmd__peer)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__setup__subcmd__del__subcmd__resource)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__setup__subcmd__detach)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__setup__subcmd__disconnect)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__setup__subcmd__disk__subcmd__options)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__setup__subcmd__down)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__setup__subcmd__dstate)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__setup__subcmd__events2)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__setup__subcmd__forget__subcmd__peer)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__setup__subcmd__get__subcmd__gi)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__setup__subcmd__invalidate)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__setup__subcmd__invalidate__subcmd__remote)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__setup__subcmd__net__subcmd__options)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__setup__subcmd__new__subcmd__current__subcmd__uuid)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__setup__subcmd__new__subcmd__minor)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__setup__subcmd__new__subcmd__path)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__setup__subcmd__new__subcmd__peer)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__setup__subcmd__new__subcmd__resource)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__setup__subcmd__outdate)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__setup__subcmd__pause__subcmd__sync)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__setup__subcmd__peer__subcmd__device__subcmd__options)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__setup__subcmd__primary)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__setup__subcmd__rename__subcmd__resource)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__setup__subcmd__resize)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__setup__subcmd__resource__subcmd__options)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__setup__subcmd__resume__subcmd__io)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__setup__subcmd__resume__subcmd__sync)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__setup__subcmd__role)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__setup__subcmd__secondary)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__setup__subcmd__show)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__setup__subcmd__show__subcmd__gi)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__setup__subcmd__status)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__setup__subcmd__suspend__subcmd__io)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__setup__subcmd__udev)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__setup__subcmd__verify)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__setup__subcmd__wait__subcmd__connect__subcmd__connection)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__setup__subcmd__wait__subcmd__connect__subcmd__resource)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__setup__subcmd__wait__subcmd__connect__subcmd__volume)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__setup__subcmd__wait__subcmd__sync__subcmd__connection)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__setup__subcmd__wait__subcmd__sync__subcmd__resource)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__setup__subcmd__wait__subcmd__sync__subcmd__volume)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__help__subcmd__top)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__install__subcmd__links)
            opts="-h --force --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__node)
            opts="-h --name --state-dir --admin-socket --admin-group --nbd --nbd-tls --nbd-unix --nvme --nvme-auth --vhost --metrics --pki --shards --spin-us --tcp-congestion --device-timeout --max-parallel-resyncs --drbd-names --exit-with-parent --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --name)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --state-dir)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --admin-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --admin-group)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --nbd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --nbd-tls)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --nbd-unix)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --nvme)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --nvme-auth)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --vhost)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --metrics)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --pki)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --shards)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --spin-us)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --tcp-congestion)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --device-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-parallel-resyncs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__pki)
            opts="-h --help init issue issue-client help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__pki__subcmd__help)
            opts="init issue issue-client help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__pki__subcmd__help__subcmd__help)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__pki__subcmd__help__subcmd__init)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__pki__subcmd__help__subcmd__issue)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__pki__subcmd__help__subcmd__issue__subcmd__client)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__pki__subcmd__init)
            opts="-h --dir --days --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --dir)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --days)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__pki__subcmd__issue)
            opts="-h --dir --days --address --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --dir)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --days)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --address)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__pki__subcmd__issue__subcmd__client)
            opts="-h --dir --days --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --dir)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --days)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help status events2 show role cstate dstate down primary secondary connect disconnect detach resize invalidate suspend-io resume-io new-current-uuid invalidate-remote outdate verify get-gi show-gi check-resize pause-sync resume-sync udev del-minor del-peer forget-peer del-resource rename-resource new-resource new-minor new-peer new-path del-path attach resource-options disk-options net-options peer-device-options wait-connect-resource wait-connect-connection wait-connect-volume wait-sync-resource wait-sync-connection wait-sync-volume help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__attach)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__check__subcmd__resize)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__connect)
            opts="-c -d -v -h --discard-my-data --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__cstate)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__del__subcmd__minor)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__del__subcmd__path)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__del__subcmd__peer)
            opts="-c -d -v -h --force --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__del__subcmd__resource)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__detach)
            opts="-c -d -v -h --force --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__disconnect)
            opts="-c -d -v -h --force --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__disk__subcmd__options)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__down)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__dstate)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__events2)
            opts="-s -c -d -v -h --now --timestamps --statistics --diff --full --poll --color --rcvbuf --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "always auto never" -- "${cur}"))
                    return 0
                    ;;
                --rcvbuf)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__forget__subcmd__peer)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__get__subcmd__gi)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__help)
            opts="status events2 show role cstate dstate down primary secondary connect disconnect detach resize invalidate suspend-io resume-io new-current-uuid invalidate-remote outdate verify get-gi show-gi check-resize pause-sync resume-sync udev del-minor del-peer forget-peer del-resource rename-resource new-resource new-minor new-peer new-path del-path attach resource-options disk-options net-options peer-device-options wait-connect-resource wait-connect-connection wait-connect-volume wait-sync-resource wait-sync-connection wait-sync-volume help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__help__subcmd__attach)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__help__subcmd__check__subcmd__resize)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__help__subcmd__connect)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__help__subcmd__cstate)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__help__subcmd__del__subcmd__minor)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__help__subcmd__del__subcmd__path)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__help__subcmd__del__subcmd__peer)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__help__subcmd__del__subcmd__resource)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__help__subcmd__detach)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__help__subcmd__disconnect)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__help__subcmd__disk__subcmd__options)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__help__subcmd__down)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__help__subcmd__dstate)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__help__subcmd__events2)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__help__subcmd__forget__subcmd__peer)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__help__subcmd__get__subcmd__gi)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__help__subcmd__help)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__help__subcmd__invalidate)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__help__subcmd__invalidate__subcmd__remote)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__help__subcmd__net__subcmd__options)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__help__subcmd__new__subcmd__current__subcmd__uuid)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__help__subcmd__new__subcmd__minor)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__help__subcmd__new__subcmd__path)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__help__subcmd__new__subcmd__peer)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__help__subcmd__new__subcmd__resource)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__help__subcmd__outdate)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__help__subcmd__pause__subcmd__sync)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__help__subcmd__peer__subcmd__device__subcmd__options)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__help__subcmd__primary)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__help__subcmd__rename__subcmd__resource)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__help__subcmd__resize)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__help__subcmd__resource__subcmd__options)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__help__subcmd__resume__subcmd__io)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__help__subcmd__resume__subcmd__sync)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__help__subcmd__role)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__help__subcmd__secondary)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__help__subcmd__show)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__help__subcmd__show__subcmd__gi)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__help__subcmd__status)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__help__subcmd__suspend__subcmd__io)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__help__subcmd__udev)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__help__subcmd__verify)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__help__subcmd__wait__subcmd__connect__subcmd__connection)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__help__subcmd__wait__subcmd__connect__subcmd__resource)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__help__subcmd__wait__subcmd__connect__subcmd__volume)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__help__subcmd__wait__subcmd__sync__subcmd__connection)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__help__subcmd__wait__subcmd__sync__subcmd__resource)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__help__subcmd__wait__subcmd__sync__subcmd__volume)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__invalidate)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__invalidate__subcmd__remote)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__net__subcmd__options)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__new__subcmd__current__subcmd__uuid)
            opts="-c -d -v -h --clear-bitmap --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__new__subcmd__minor)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__new__subcmd__path)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__new__subcmd__peer)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__new__subcmd__resource)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__outdate)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__pause__subcmd__sync)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__peer__subcmd__device__subcmd__options)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__primary)
            opts="-c -d -v -h --force --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__rename__subcmd__resource)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__resize)
            opts="-s -c -d -v -h --size --assume-clean --assume-peer-has-space --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -s)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__resource__subcmd__options)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__resume__subcmd__io)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__resume__subcmd__sync)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__role)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__secondary)
            opts="-c -d -v -h --force --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__show)
            opts="-D -c -d -v -h --show-defaults --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__show__subcmd__gi)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__status)
            opts="-s -c -d -v -h --statistics --color --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "always auto never" -- "${cur}"))
                    return 0
                    ;;
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__suspend__subcmd__io)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__udev)
            opts="-c -d -v -h --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__verify)
            opts="-s -S -c -d -v -h --start --stop --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --start)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -s)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --stop)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -S)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__wait__subcmd__connect__subcmd__connection)
            opts="-c -d -v -h --wfc-timeout --degr-wfc-timeout --outdated-wfc-timeout --wait-after-sb --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --wfc-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --degr-wfc-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --outdated-wfc-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__wait__subcmd__connect__subcmd__resource)
            opts="-c -d -v -h --wfc-timeout --degr-wfc-timeout --outdated-wfc-timeout --wait-after-sb --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --wfc-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --degr-wfc-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --outdated-wfc-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__wait__subcmd__connect__subcmd__volume)
            opts="-c -d -v -h --wfc-timeout --degr-wfc-timeout --outdated-wfc-timeout --wait-after-sb --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --wfc-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --degr-wfc-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --outdated-wfc-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__wait__subcmd__sync__subcmd__connection)
            opts="-c -d -v -h --wfc-timeout --degr-wfc-timeout --outdated-wfc-timeout --wait-after-sb --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --wfc-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --degr-wfc-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --outdated-wfc-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__wait__subcmd__sync__subcmd__resource)
            opts="-c -d -v -h --wfc-timeout --degr-wfc-timeout --outdated-wfc-timeout --wait-after-sb --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --wfc-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --degr-wfc-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --outdated-wfc-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__setup__subcmd__wait__subcmd__sync__subcmd__volume)
            opts="-c -d -v -h --wfc-timeout --degr-wfc-timeout --outdated-wfc-timeout --wait-after-sb --config-file --node-socket --dry-run --verbose --json --timeout --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --wfc-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --degr-wfc-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --outdated-wfc-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        basalt__subcmd__top)
            opts="-h --node-socket --interval --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --node-socket)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --interval)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
    esac
}

if [[ "${BASH_VERSINFO[0]}" -eq 4 && "${BASH_VERSINFO[1]}" -ge 4 || "${BASH_VERSINFO[0]}" -gt 4 ]]; then
    complete -F _basalt -o nosort -o bashdefault -o default basalt
else
    complete -F _basalt -o bashdefault -o default basalt
fi
