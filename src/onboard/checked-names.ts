import { BailiwickError } from '../errors.ts'
import {
  NO_ACCESS,
  TENANT_ACCESS,
  TENANT_DECRYPTION,
  TENANT_ROLES,
  type TenantAccess,
  type TenantDecryption,
  type TenantRef,
  type TenantRole,
} from './request.ts'

const LABEL = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/
const RESERVED = new Set(['flux-system', 'bailiwick-system', 'default', 'base', 'platform'])

/** An RFC 1123 label that is not in use. Throws `onboard-input`; `what` says of what it is the name. */
export function checkedName(value: string, what: 'tenant' | 'namespace' | 'cluster' | 'account'): string {
  if (value.length > 63 || !LABEL.test(value)) {
    throw inputError(
      `${what} ${quote(value)} is not a valid name`,
      'Use at most 63 lower-case letters, digits and dashes, with a letter or digit at both ends.',
    )
  }
  if ((what === 'tenant' || what === 'namespace') && (RESERVED.has(value) || value.startsWith('kube-'))) {
    throw inputError(
      `${what} ${quote(value)} is reserved`,
      `Choose another name: ${[...RESERVED].join(', ')} and kube-* belong to the platform.`,
    )
  }
  if (what === 'account' && value === 'default') {
    throw inputError(
      `account ${quote(value)} is reserved`,
      'Choose another name: every pod and every Flux object that names no account runs as default.',
    )
  }
  return value
}

const ADDRESS =
  /^(https|ssh|oci):\/\/(git@)?([a-z0-9-]+(?:\.[a-z0-9-]+)+)(?::\d{1,5})?((?:\/[A-Za-z0-9._~-]+){2,})\/?$/i

/**
 * An address that every reader understands the same way (threats SRC-03, SRC-04): https, ssh or oci, a named host, a plain path.
 * Throws `onboard-input`.
 */
export function checkedUrl(value: string): string {
  const fix =
    'Write https://<host>/<owner>/<repository> or ssh://git@<host>/<owner>/<repository>, or oci://<host>/<artifact> with --tag.'
  const match = value.length <= 500 ? ADDRESS.exec(value) : null
  if (!match) throw inputError(`--repo ${quote(value)} is not an allowed address`, fix)
  const [, scheme, user, host, path] = match
  if (user && scheme?.toLowerCase() !== 'ssh') {
    throw inputError(`--repo ${quote(value)} names a user, which only ssh addresses may`, fix)
  }
  if (/\.\d+$/.test(host!)) throw inputError(`--repo ${quote(value)} names a host by number`, fix)
  const odd = path!.split('/').find(part => /^\.+$/.test(part))
  if (odd !== undefined) throw inputError(`--repo ${quote(value)} has a path with ${quote(odd)} in it`, fix)
  return value.replace(/\/$/, '').replace(/^[A-Za-z]+/, known => known.toLowerCase())
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

/** A tag, a range of versions, a commit or a digest. Throws `onboard-input`. */
export function checkedRef(field: TenantRef['field'], value: string): TenantRef {
  if (value.length <= 200 && REFS[field].test(value) && !/\.\.|\.lock$|\.$/.test(value)) return { field, value }
  throw inputError(`--${field} ${quote(value)} is not allowed`, `Write ${REF_FORMS[field]}.`)
}

const REFS: Readonly<Record<TenantRef['field'], RegExp>> = {
  tag: /^[A-Za-z0-9_][A-Za-z0-9._+-]*$/,
  semver: /^[0-9vVxX*<>=~^!][0-9A-Za-z.*<>=~^!|,+-]*$/,
  commit: /^[0-9a-f]{40}$/,
  digest: /^sha256:[0-9a-f]{64}$/,
}
const REF_FORMS: Readonly<Record<TenantRef['field'], string>> = {
  tag: 'one tag: letters, digits, ".", "_", "+" and "-"',
  semver: 'a range of versions without spaces, such as ">=1.2.0,<2.0.0"',
  commit: 'all 40 hex digits of a commit',
  digest: 'sha256: and 64 hex digits',
}

const UNITS = { h: 3600, m: 60, s: 1 } as const

/** A duration of hours, minutes and seconds, as Go prints it: `90m` is `1h30m0s`. Throws `onboard-input`. */
export function checkedDuration(value: string, option: '--interval' | '--timeout'): string {
  const match = /^(?=\d)(?:(\d{1,5})h)?(?:(\d{1,5})m)?(?:(\d{1,5})s)?$/.exec(value)
  const [h, m, s] = [match?.[1], match?.[2], match?.[3]].map(part => Number(part ?? 0)) as [number, number, number]
  const seconds = h * UNITS.h + m * UNITS.m + s * UNITS.s
  if (!match || seconds < 1) throw inputError(`${option} ${quote(value)} is not a duration`, 'Write 10m or 1h30m.')
  const [hours, minutes] = [Math.floor(seconds / UNITS.h), Math.floor((seconds % UNITS.h) / UNITS.m)]
  return `${hours > 0 ? `${hours}h` : ''}${hours > 0 || minutes > 0 ? `${minutes}m` : ''}${seconds % UNITS.m}s`
}

/** Throws `onboard-input`. */
export function checkedSwitch(value: string, option: '--prune' | '--wait'): boolean {
  if (value === 'true' || value === 'false') return value === 'true'
  throw inputError(`${option} ${quote(value)} is not a switch`, 'Write true or false.')
}

/** Credentials for an address. Throws `onboard-input` where Flux cannot use them there. */
export function checkedAccess(value: string, url: string): TenantAccess {
  const access = TENANT_ACCESS.find(known => known === value)
  if (access === undefined) {
    throw inputError(`--access ${quote(value)} is not allowed`, `Access: ${[NO_ACCESS, ...TENANT_ACCESS].join(', ')}.`)
  }
  const { schemes, address } = ACCESS_NEEDS[access]
  if (schemes.some(scheme => url.startsWith(`${scheme}://`))) return access
  throw inputError(`--access ${access} does not fit --repo ${quote(url)}`, `It needs ${address}.`)
}

const ACCESS_NEEDS: Readonly<Record<TenantAccess, { readonly schemes: readonly string[]; readonly address: string }>> =
  {
    'deploy-key': { schemes: ['https', 'ssh'], address: 'a git repository' },
    token: { schemes: ['https', 'oci'], address: 'an https or oci address' },
    'github-app': { schemes: ['https'], address: 'an https address' },
  }

/** The number of a GitHub App or of an installation. Throws `onboard-input`. */
export function checkedAppNumber(value: string, option: '--app-id' | '--app-installation-id'): string {
  if (/^[1-9]\d{0,15}$/.test(value)) return value
  throw inputError(`${option} ${quote(value)} is not a number`, 'Copy it from the settings page of the GitHub App.')
}

/** How the files of a tenant are decrypted. Throws `onboard-input`. */
export function checkedDecryption(value: string): TenantDecryption {
  const found = TENANT_DECRYPTION.find(known => known === value)
  if (found !== undefined) return found
  throw inputError(
    `--decryption ${quote(value)} is not supported`,
    `Write --decryption ${TENANT_DECRYPTION.join(', ')}.`,
  )
}

/** A team or a person as CODEOWNERS names them, without `@`. Throws `onboard-input`. */
export function checkedTeam(value: string): string {
  const name = value.replace(/^@/, '')
  if (value.length <= 140 && /^[A-Za-z0-9][A-Za-z0-9-]*(?:\/[A-Za-z0-9][A-Za-z0-9._-]*)?$/.test(name)) return name
  throw inputError(`--team ${quote(value)} is not the name of a team`, 'Write ORGANIZATION/TEAM or a login.')
}

/** The error of every input that is refused. */
export function inputError(message: string, fix: string): BailiwickError {
  return new BailiwickError('onboard-input', message, { fix })
}

/** A hostile value in a message: quoted, escaped, short. */
export function quote(value: string): string {
  return JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value)
}
