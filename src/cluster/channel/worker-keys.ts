import { hash, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { BailiwickError } from '../../base/errors.ts'
import type { ClusterBinding } from '../clusters-file.ts'

/** The keys of WORKER_KEY_FILE, the one to send first. Throws `config`. */
export const readWorkerKeys = (file: string): ReturnType<typeof parseWorkerKeys> => readKeys(file, 'WORKER_KEY_FILE')

/** The keys of a `workerKey` of clusters.yaml. Throws `config`. */
export const readSiteKeys = (file: string): readonly string[] =>
  readKeys(file, `${file}, a workerKey of clusters.yaml,`)

/** Read for each request, so that replacing a key needs no restart. */
function readKeys(file: string, name: string): ReturnType<typeof parseWorkerKeys> {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (cause) {
    throw new BailiwickError('config', `${name} cannot be read`, { fix: 'Mount the file.', cause })
  }
  return parseWorkerKeys(text, name)
}

/** Throws `config` for a `workerKey` that cannot be read, and for two clusters with one key, which could act as each other. */
export function assertSiteKeys(bindings: readonly ClusterBinding[]): void {
  const owners = new Map<string, string>()
  for (const { name, workerKey } of bindings) {
    for (const key of workerKey === undefined ? [] : readSiteKeys(workerKey)) {
      const other = owners.get(key) ?? name
      owners.set(key, other)
      if (other === name) continue
      throw new BailiwickError('config', `the clusters ${other} and ${name} have the same workerKey`, {
        fix: 'Generate a key for each cluster with `openssl rand -hex 32`.',
      })
    }
  }
}

const KEY = /^[\x21-\x7e]{32,512}$/

/**
 * The keys in the text of a key file: one on each line, two while one replaces the other; the first is the one to send. Throws
 * `config` naming the file, never a key.
 */
function parseWorkerKeys(text: string, file: string): readonly [string, ...string[]] {
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
