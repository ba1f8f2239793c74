import { setImmediate } from 'node:timers/promises'

/** Milliseconds of work after which others have their turn. */
const TURN_MS = 15

/** Runs steps to their result. Whenever they have taken 15 ms, the event loop goes on in between. */
export async function inTurns<T>(steps: Generator<void, T>): Promise<T> {
  let since = performance.now()
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
    if (performance.now() - since < TURN_MS) continue
    await setImmediate()
    since = performance.now()
  }
}
