import { setImmediate } from 'node:timers/promises'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Runs work to its end before Ctrl-C or another signal ends the process, so that of several files that belong together no one is
 * written alone. The signal then has its usual effect.
 */
export async function uninterrupted<T>(work: () => Promise<T>): Promise<T> {
  const caught: NodeJS.Signals[] = []
  const hold = (signal: NodeJS.Signals): void => void caught.push(signal)
  for (const signal of SIGNALS) process.on(signal, hold)
  try {
    return await work()
  } finally {
    // one that came during the last step is delivered first
    await setImmediate()
    for (const signal of SIGNALS) process.off(signal, hold)
    const [first] = caught
    if (first) process.kill(process.pid, first)
  }
}
