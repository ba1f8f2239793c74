import { hash, timingSafeEqual } from 'node:crypto'
import { BailiwickError } from '../errors.ts'

const KEY = /^[\x21-\x7e]{32,512}$/

/**
 * The keys in the text of a key file: one on each line, two while one replaces the other; the first is the one to send. Throws
 * `config` naming the file, never a key.
 */
export function parseWorkerKeys(text: string, file: string): readonly [string, ...string[]] {
  const [first, ...more] = text.split('\n').filter(line => line !== '')
  if (first === undefined || more.length > 1 || ![first, ...more].every(key => KEY.test(key))) {
    throw new BailiwickError(
      'config',
      `${file} has to contain a key of 32 to 512 characters without spaces on a line`,
      {
        fix: 'Generate one with `openssl rand -hex 32`. Two lines are accepted while one replaces the other.',
      },
    )
  }
  return [first, ...more]
}

/** Whether a key is among these; takes equally long whatever it is. */
export function isWorkerKey(given: string, keys: readonly string[]): boolean {
  const digest = (text: string) => Buffer.from(hash('sha256', text), 'hex')
  const wanted = digest(given)
  return keys.map(key => timingSafeEqual(wanted, digest(key))).includes(true)
}
