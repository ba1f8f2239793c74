import { generateKeyPairSync } from 'node:crypto'
import { BailiwickError } from '../errors.ts'
import { type Environment, variableOf } from './environment.ts'

/** Valid values for required settings, so that reading continues to the next problem. No process starts with them. */
const PLACEHOLDERS: ReadonlyMap<string, () => string> = new Map([
  ['APP_ID', () => '1'],
  ['WEBHOOK_SECRET', () => 'x'.repeat(32)],
  ['REDIS_URL', () => 'redis://127.0.0.1'],
  ['PUBLIC_URL', () => 'https://placeholder.invalid'],
  ['CLIENT_SECRET', () => 'placeholder'],
  ['PRIVATE_KEY', anyKey],
  ['PRIVATE_KEY_PATH', anyKey],
])
const KEYS = ['PRIVATE_KEY', 'PRIVATE_KEY_PATH']

/**
 * Reads the settings of a process. Throws the `config` error if one setting is invalid, and an AggregateError if several are, so that an
 * operator sees all of them at once.
 */
export function readSettings<T>(env: Environment, read: (env: Environment) => T): T {
  try {
    return read(env)
  } catch (error) {
    const problems = problemsOf(env, read)
    throw problems.length > 1 ? new AggregateError(problems, 'several settings are invalid') : error
  }
}

/** Every invalid setting, in reading order. Replaces each variable at most once, so it terminates. */
export function problemsOf(env: Environment, read: (env: Environment) => unknown): BailiwickError[] {
  const problems: BailiwickError[] = []
  const replaced = new Set<string>()
  for (let tried: Environment = env; ; ) {
    try {
      read(tried)
      return problems
    } catch (error) {
      if (!(error instanceof BailiwickError)) throw error
      const name = variableOf(error)
      if (name === undefined || replaced.has(name)) return problems.length > 0 ? problems : [error]
      problems.push(error)
      replaced.add(name)
      tried = without(tried, name)
    }
  }
}

function without(env: Environment, name: string): Environment {
  const placeholder = PLACEHOLDERS.get(name)?.()
  if (!KEYS.includes(name)) return { ...env, [name]: placeholder }
  return { ...env, PRIVATE_KEY_PATH: undefined, PRIVATE_KEY: placeholder }
}

function anyKey(): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
}
