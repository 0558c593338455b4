/* Numbers that are the same in each run (SplitMix64, Steele, Lea and Flood 2014). The state is the seed at first. */
#pragma once

static u64 state;

static u64 next(void) {
    u64 z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static u64 below(u64 limit) { return next() % limit; }
