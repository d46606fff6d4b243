/*
 * The floor below `basalt bench rows --row write-1` and `--row sequential-write`: what the system
 * calls alone of a write to three nodes cost.
 *
 *     cc -O2 -o /tmp/write_floor docs/benchmarks/write_floor.c
 *     /tmp/write_floor 30000              4 KiB, one write after the other
 *     /tmp/write_floor 30000 131072 16    128 KiB, 16 in flight
 *
 * A client on a unix socket; a process that sends the write on to two others over loopback TCP,
 * writes it to a file on tmpfs and answers when both have written it, too. All calls block; there
 * is no checksum, no order, and of headers only their room. Where several writes are in flight, the
 * answers lag by as many, so that nobody waits for what is not under way yet. Prints the CPU time
 * per write of each of the three, of all, the mean latency, and the rate.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The smallest frame between nodes, and its part before a payload; NBD's request and answer. */
enum { FILE_BYTES = 64 << 20, BLOCK_MAX = 1 << 20, FRAME = 512, REQUEST = 28, ANSWER = 16 };

static char bytes[FRAME + BLOCK_MAX];
static long count = 30000, block = 4096, depth = 1;

static void check(int is_good, const char *what)
{
	if (!is_good) {
		perror(what);
		exit(1);
	}
}

static void receive(int socket, size_t length)
{
	for (size_t got = 0; got < length;) {
		ssize_t result = recv(socket, bytes + got, length - got, 0);
		check(result > 0, "recv");
		got += result;
	}
}

static void deliver(int socket, size_t length)
{
	check(send(socket, bytes, length, 0) == (ssize_t)length, "send");
}

static void store(int file, long place)
{
	long offset = place % (FILE_BYTES / block) * block;
	check(pwrite(file, bytes + FRAME, block, offset) == block, "pwrite");
}

/* A file on tmpfs whose blocks are all there. */
static int make_file(void)
{
	char path[] = "/dev/shm/write_floor.XXXXXX";
	int file = mkstemp(path);
	check(file >= 0, path);
	unlink(path);
	for (long place = 0; place < FILE_BYTES / block; place++)
		store(file, place);
	return file;
}

static double cpu_us(void)
{
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 + usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
}

static double now_us(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1e6 + time.tv_nsec / 1e3;
}

/* Without delays, and with a congestion control that does not pace, as a node's. */
static void prepare(int socket)
{
	int on = 1;
	check(setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0, "TCP_NODELAY");
	check(setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, "cubic", 5) == 0, "TCP_CONGESTION");
}

static void connect_pair(int ends[2])
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t length = sizeof address;
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	check(bind(listener, (void *)&address, length) == 0 && listen(listener, 1) == 0, "listen");
	getsockname(listener, (void *)&address, &length);
	ends[0] = socket(AF_INET, SOCK_STREAM, 0);
	check(connect(ends[0], (void *)&address, length) == 0, "connect");
	ends[1] = accept(listener, NULL, NULL);
	check(ends[1] >= 0, "accept");
	close(listener);
	prepare(ends[0]);
	prepare(ends[1]);
}

/* One node, in a process of its own, which tells its CPU time; `peers` is NULL for a follower. */
static void serve(int from, const int *peers, int result)
{
	if (fork() != 0)
		return;
	int file = make_file();
	long lag = peers ? depth - 1 : 0;
	double before = cpu_us();
	for (long write = 0; write < count + lag; write++) {
		if (write < count) {
			receive(from, (peers ? REQUEST : FRAME) + block);
			for (int peer = 0; peers && peer < 2; peer++)
				deliver(peers[peer], FRAME + block);
			store(file, depth > 1 ? write : random());
		}
		if (write < lag)
			continue;
		for (int peer = 0; peers && peer < 2; peer++)
			receive(peers[peer], FRAME);
		deliver(from, peers ? ANSWER : FRAME);
	}
	double used = (cpu_us() - before) / count;
	check(write(result, &used, sizeof used) == sizeof used, "write");
	exit(0);
}

int main(int arguments, char **words)
{
	long *numbers[] = { &count, &block, &depth };
	int results[2], client[2], peers[2];
	for (int word = 1; word < arguments && word <= 3; word++)
		*numbers[word - 1] = atol(words[word]);
	if (depth < 1 || count <= depth || block < 512 || block > BLOCK_MAX) {
		fputs("write_floor [WRITES [BYTES, 512 to 1048576 [IN FLIGHT]]]\n", stderr);
		return 2;
	}
	check(pipe(results) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, client) == 0, "socketpair");
	for (int peer = 0; peer < 2; peer++) {
		int ends[2];
		connect_pair(ends);
		peers[peer] = ends[0];
		serve(ends[1], NULL, results[1]);
		close(ends[1]);
	}
	serve(client[1], peers, results[1]);
	/* The first one waits for the files. */
	double before = 0;
	for (long write = 0; write < count + depth - 1; write++) {
		if (write < count)
			deliver(client[0], REQUEST + block);
		if (write < depth - 1)
			continue;
		receive(client[0], ANSWER);
		if (write == depth - 1)
			before = now_us();
	}
	double each = (now_us() - before) / (count - 1), sum = 0, used;
	for (int node = 0; node < 3; node++) {
		check(read(results[0], &used, sizeof used) == sizeof used, "read");
		printf("%.1f ", used);
		sum += used;
	}
	printf("us of CPU per write, all %.1f; %.1f us of latency, %.0f MB/s\n", sum, each * depth, block / each);
	while (wait(NULL) > 0)
		;
	return 0;
}
