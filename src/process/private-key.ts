import { createPrivateKey } from 'node:crypto'
import { badVariable, type Environment, optional } from './environment.ts'

const HOW =
  'generate a private key on the settings page of the GitHub App and set PRIVATE_KEY to its PEM text (or base64 of it), or PRIVATE_KEY_PATH to its file'

/**
 * Reads the App's private key as PKCS#8 PEM. PRIVATE_KEY may be PEM, PEM with literal `\n`, or base64 of PEM, because
 * many hosts cannot store multi-line variables. Throws `config` if it is missing or not an RSA key.
 */
export function readPrivateKey(env: Environment, readFile: (path: string) => string): string {
  const inline = optional(env, 'PRIVATE_KEY')
  const path = optional(env, 'PRIVATE_KEY_PATH')
  if (inline !== undefined && path !== undefined) {
    throw badVariable('PRIVATE_KEY', 'and PRIVATE_KEY_PATH are both set', 'keep one of them')
  }
  if (inline !== undefined) return normalise('PRIVATE_KEY', unfold(inline))
  if (path === undefined) throw badVariable('PRIVATE_KEY', 'is missing', HOW)
  return normalise('PRIVATE_KEY_PATH', readKeyFile(path, readFile))
}

function unfold(text: string): string {
  if (text.includes('-----BEGIN')) return text.replaceAll('\\n', '\n')
  return Buffer.from(text, 'base64').toString('utf8')
}

function readKeyFile(path: string, readFile: (path: string) => string): string {
  try {
    return readFile(path)
  } catch {
    throw badVariable('PRIVATE_KEY_PATH', 'names a file that cannot be read', HOW)
  }
}

function normalise(name: string, pem: string): string {
  const key = parse(pem)
  if (key?.asymmetricKeyType !== 'rsa') throw badVariable(name, 'contains no RSA private key in PEM form', HOW)
  return key.export({ type: 'pkcs8', format: 'pem' }).toString()
}

function parse(pem: string): ReturnType<typeof createPrivateKey> | undefined {
  try {
    return createPrivateKey(pem)
  } catch {
    return undefined // the reason of the library may quote the key; ours names the variable
  }
}
