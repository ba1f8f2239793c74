import { badVariable, type Environment, optional } from './environment.ts'

const FIX = 'write a line of 32 to 512 characters without spaces (`openssl rand -hex 32`), or remove the variable'

/**
 * Reads the key that digests of values of a cluster are made with; undefined: it is derived from another key of the process. Throws
 * `config` naming the variable, never the key.
 */
export function readValuesKey(env: Environment, readFile: (path: string) => string): string | undefined {
  const path = optional(env, 'VALUES_KEY_FILE')
  if (path === undefined) return undefined
  const key = readText(path, readFile).replace(/\n$/, '')
  if (/^[\x21-\x7e]{32,512}$/.test(key)) return key
  throw badVariable('VALUES_KEY_FILE', 'names a file that holds no key', FIX)
}

function readText(path: string, readFile: (path: string) => string): string {
  try {
    return readFile(path)
  } catch {
    throw badVariable('VALUES_KEY_FILE', 'names a file that cannot be read', FIX)
  }
}
