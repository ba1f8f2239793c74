import { setTimeout as sleep } from 'node:timers/promises'

/** Resolves once the condition holds; throws after `limitMs`. */
export async function until(holds: () => boolean | Promise<boolean>, limitMs = 15_000): Promise<void> {
  const end = performance.now() + limitMs
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`waited ${limitMs} ms in vain for: ${holds}`)
    await sleep(10)
  }
}
