import { BailiwickError } from '../errors.ts'
import { TENANT_ROLES, type TenantRole } from './request.ts'

const LABEL = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/
const RESERVED = new Set(['flux-system', 'bailiwick-system', 'default', 'base', 'platform'])

/** An RFC 1123 label that is not in use. Throws `onboard-input`; `what` says of what it is the name. */
export function checkedName(value: string, what: 'tenant' | 'namespace' | 'cluster'): string {
  if (value.length > 63 || !LABEL.test(value)) {
    throw inputError(
      `${what} ${quote(value)} is not a valid name`,
      'Use at most 63 lower-case letters, digits and dashes, with a letter or digit at both ends.',
    )
  }
  if (what !== 'cluster' && (RESERVED.has(value) || value.startsWith('kube-'))) {
    throw inputError(
      `${what} ${quote(value)} is reserved`,
      `Choose another name: ${[...RESERVED].join(', ')} and kube-* belong to the platform.`,
    )
  }
  return value
}

const ADDRESS = /^(https|ssh):\/\/(git@)?([a-z0-9-]+(?:\.[a-z0-9-]+)+)(?::\d{1,5})?((?:\/[A-Za-z0-9._~-]+){2,})\/?$/i

/**
 * An address that every reader understands the same way (threats SRC-03, SRC-04): https or ssh, a named host, a plain path.
 * Throws `onboard-input`.
 */
export function checkedUrl(value: string): string {
  const fix = 'Write https://<host>/<owner>/<repository> or ssh://git@<host>/<owner>/<repository>.'
  const match = value.length <= 500 ? ADDRESS.exec(value) : null
  if (!match) throw inputError(`--repo ${quote(value)} is not an allowed address`, fix)
  const [, scheme, user, host, path] = match
  if (user && scheme?.toLowerCase() === 'https') {
    throw inputError(`--repo ${quote(value)} names a user, which https addresses may not`, fix)
  }
  if (/\.\d+$/.test(host!)) throw inputError(`--repo ${quote(value)} names a host by number`, fix)
  const odd = path!.split('/').find(part => /^\.+$/.test(part))
  if (odd !== undefined) throw inputError(`--repo ${quote(value)} has a path with ${quote(odd)} in it`, fix)
  return value.replace(/\/$/, '')
}

/** A branch name that git takes and no reader mistakes for an option, a revision or a full ref. Throws `onboard-input`. */
export function checkedBranch(value: string): string {
  const fine =
    value.length <= 200 &&
    /^[A-Za-z0-9_][A-Za-z0-9._/-]*$/.test(value) &&
    !/\.\.|\/\/|\/\.|\.lock(?:\/|$)|[./]$/.test(value) &&
    !value.startsWith('refs/') &&
    !/^[0-9a-f]{40}$/.test(value)
  if (fine) return value
  throw inputError(
    `--branch ${quote(value)} is not an allowed branch name`,
    'Use letters, digits, ".", "_", "-" and "/", and neither a commit nor a full ref.',
  )
}

/** A directory inside the tenant's repository, as `./x/y`. Throws `onboard-input`. */
export function checkedPath(value: string): string {
  const clean = value.replace(/^\.\//, '').replace(/\/$/, '')
  if (clean === '' || clean === '.') return './'
  const parts = clean.split('/')
  const fine = value.length <= 200 && parts.every(part => /^[A-Za-z0-9._-]+$/.test(part) && !/^\.+$/.test(part))
  if (fine) return `./${clean}`
  throw inputError(
    `--path ${quote(value)} is not an allowed directory`,
    'Write ./<directory> of the tenant repository: letters, digits, ".", "_", "-", no "..".',
  )
}

/** A role that a tenant may have inside its namespaces. Throws `onboard-input`. */
export function checkedRole(value: string): TenantRole {
  const role = TENANT_ROLES.find(known => known === value)
  if (role !== undefined) return role
  throw inputError(`--role ${quote(value)} is not an allowed role`, `Roles: ${TENANT_ROLES.join(', ')}.`)
}

/** The error of every input that is refused. */
export function inputError(message: string, fix: string): BailiwickError {
  return new BailiwickError('onboard-input', message, { fix })
}

/** A hostile value in a message: quoted, escaped, short. */
export function quote(value: string): string {
  return JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value)
}
