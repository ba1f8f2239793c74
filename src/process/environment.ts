import { BailiwickError } from '../base/errors.ts'

/** The variables of a process, as `process.env` has them. */
export type Environment = Readonly<Record<string, string | undefined>>

/**
 * The error for an invalid setting, which stops the start. It names the variable and the fix, and never the value,
 * which may be a secret.
 */
export function badVariable(name: string, what: string, fix: string): BadVariable {
  return Object.assign(new BailiwickError('config', `${name} ${what}`, { fix }), { variable: name })
}

/** The error of an invalid setting, with its variable. */
interface BadVariable extends BailiwickError {
  readonly variable: string
}

/** The variable of an error about a setting; undefined for any other error. */
export const variableOf = (error: unknown): string | undefined =>
  error instanceof BailiwickError && 'variable' in error ? String(error.variable) : undefined

/** Returns the text of a variable; empty or blank counts as absent. */
export function optional(env: Environment, name: string): string | undefined {
  const value = env[name]?.trim()
  return value === '' ? undefined : value
}

/** Returns the text of a variable. Throws `config` if it is absent. */
export function required(env: Environment, name: string, fix: string): string {
  const value = optional(env, name)
  if (value === undefined) throw badVariable(name, 'is missing', fix)
  return value
}

/** Parses a whole number within bounds. Throws `config` for anything else. */
export function integer(env: Environment, name: string, bounds: Bounds): number {
  const text = optional(env, name)
  if (text === undefined) return bounds.otherwise
  const value = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN
  if (value >= bounds.min && value <= bounds.max) return value
  const range = `a whole number from ${bounds.min} to ${bounds.max}`
  throw badVariable(name, `is not ${range}`, `set ${name} to ${range}, or remove it to get ${bounds.otherwise}`)
}

interface Bounds {
  readonly min: number
  readonly max: number
  readonly otherwise: number
}

/** Returns one of the allowed words. Throws `config` for any other. */
export function oneOf(env: Environment, name: string, words: readonly string[], otherwise: string): string {
  const value = optional(env, name) ?? otherwise
  if (words.includes(value)) return value
  throw badVariable(
    name,
    `is not one of ${words.join(', ')}`,
    `set ${name} to one of them, or remove it for ${otherwise}`,
  )
}

/** Parses an address with one of these schemes. Throws `config` for anything else. */
export function address(env: Environment, name: string, schemes: readonly string[]): URL | undefined {
  const text = optional(env, name)
  if (text === undefined) return undefined
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url && schemes.includes(url.protocol.slice(0, -1)) && url.hostname !== '') return url
  const allowed = schemes.map(scheme => `${scheme}://host`).join(' or ')
  throw badVariable(name, `is not an address like ${allowed}`, `write it as ${allowed}`)
}

/** Whether a host name or address is loopback. */
export function isLoopbackHost(host: string): boolean {
  return ['localhost', '127.0.0.1', '::1', '[::1]', '::ffff:127.0.0.1'].includes(host.toLowerCase())
}

/** Whether a URL points to a loopback host; false for an invalid URL. */
export function isLoopbackUrl(url: string): boolean {
  return URL.canParse(url) && isLoopbackHost(new URL(url).hostname)
}

/**
 * Whether the operator allows this account (the owner of a repository) to use the App; without a list, every account
 * that installs the App may. Names are compared whole and without case, as GitHub does. Checked before a job is stored,
 * and again before a worker acts.
 */
export function isAllowedAccount(allowed: readonly string[] | undefined, account: string): boolean {
  const login = account.toLowerCase()
  return allowed === undefined || allowed.some(name => name.toLowerCase() === login)
}
