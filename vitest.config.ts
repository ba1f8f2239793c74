import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { ALL, LongestFirst } from './test/repository/runner/longest-first.ts'
import { findProgram } from './test/repository/runner/programs.ts'
import { ON_REDIS, SLOW } from './test/repository/runner/slow.ts'

/** `npm test -- --all`: slow files wait most of the time, and quick ones use the cores meanwhile. */
const isAll = process.env.BAILIWICK_ALL_TESTS !== undefined
/** Of a whole run: what runs on Redis says more than the same flow in one process, which `npm test` runs. */
const onlyOnRedis = findProgram('redis-server') === undefined ? [] : [...ON_REDIS]

export default defineConfig({
  test: {
    testTimeout: 30_000,
    // an API server and a controller start in one, beside whatever else the machine does
    hookTimeout: 240_000,
    passWithNoTests: false,
    // A loaded CI machine gets a second attempt, and test/repository/runner/run.ts a third, alone; test/repository/runner/sum-up.ts lists every test that needed one.
    retry: process.env.CI ? 1 : 0,
    // Node strips the types itself, as it does in production, and a worker imports each module once for all of its files:
    // a file leaves nothing behind (variables, clocks and servers are put back when its tests end).
    isolate: false,
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // the tests of the App and of servers mostly wait
    maxWorkers: availableParallelism() + (isAll ? 2 : 1),
    sequence: { sequencer: LongestFirst },
    projects: [
      ...(isAll
        ? [{ extends: true as const, test: { name: ALL, include: ['test/**/*.test.ts'], exclude: onlyOnRedis } }]
        : [
            { extends: true as const, test: { name: 'quick', include: ['test/**/*.test.ts'], exclude: [...SLOW] } },
            { extends: true as const, test: { name: 'slow', include: [...SLOW] } },
          ]),
      {
        extends: true,
        test: {
          name: 'on redis',
          include: [...ON_REDIS],
          setupFiles: ['test/workers/story/needs-redis.ts'],
          env: { BAILIWICK_STAGE: 'redis' },
        },
      },
    ],
  },
})
