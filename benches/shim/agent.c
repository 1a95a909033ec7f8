/* An agent for `cargo xtask bench shim`: asks, and notes in shared memory how long it still runs.
 *
 * One thread writes the question and counts what it does behind it; both it and another write down the time, again
 * and again, so that the last time they have written is when the process stopped. Both wait for the next round.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* The same fields, in this order, are read by xtask. */
struct notes {
    volatile uint64_t pid, go, before, last, progress, released;
};

static struct notes *notes;

static const char question[] =
    "[USER_QUESTION]\ncategory: business\nquestion: Which?\nrequired: true\n[/USER_QUESTION]\n";

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void pause_briefly(void) {
    struct timespec pause = {0, 100000};
    nanosleep(&pause, NULL);
}

/* The round has begun and nobody has said yet that it is over. */
static int runs(uint64_t round) { return notes->released < round; }

static void *watch(void *unused) {
    (void)unused;
    for (uint64_t round = 1;; round++) {
        while (notes->go < round) pause_briefly();
        while (runs(round)) notes->last = now();
    }
    return NULL;
}

int main(int count, char **arguments) {
    int file = count == 2 ? open(arguments[1], O_RDWR) : -1;
    if (file < 0) return 1;
    notes = mmap(NULL, sizeof *notes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (notes == MAP_FAILED) return 1;
    pthread_t watcher;
    if (pthread_create(&watcher, NULL, watch, NULL) != 0) return 1;
    notes->pid = (uint64_t)getpid();
    for (uint64_t round = 1;; round++) {
        while (notes->go < round) pause_briefly();
        /* Not before the other one is at work. */
        for (uint64_t last = notes->last; notes->last == last;) pause_briefly();
        notes->progress = 0;
        notes->before = now();
        if (write(STDOUT_FILENO, question, sizeof question - 1) < 0) return 1;
        while (runs(round)) {
            notes->progress++;
            notes->last = now();
        }
    }
}
