import { BailiwickError } from '../../base/errors.ts'
import { TENANT_ROLE } from '../../fleet/tenancy/tenancy.ts'

/** What an admin asks for: a tenant, where its content lies, and where it may live. Checked by parseOnboardArguments. */
export interface OnboardRequest {
  readonly tenant: string
  /** Address as Flux will read it: https or ssh. */
  readonly url: string
  /** At least one; source and Kustomization go into the first. */
  readonly namespaces: readonly string[]
  /** At least one. */
  readonly clusters: readonly string[]
  /** Which is applied where `ref` is absent. */
  readonly branch: string
  /** What is applied instead of the branch; an OCI artifact has no branch, so it is there. */
  readonly ref?: TenantRef
  /** How often Flux looks for changes, as Go prints durations; absent: each minute, as the flux CLI writes. */
  readonly interval?: string
  /** Absent: removed objects are deleted. */
  readonly prune?: boolean
  /** Whether the Kustomization waits for its objects; at most `timeout` (absent: two minutes). */
  readonly wait?: boolean
  readonly timeout?: string
  /** The account that applies; absent: one named like the tenant. */
  readonly account?: string
  /** How the cluster reads the repository; absent: without credentials, or by a Secret added by hand. */
  readonly access?: TenantAccess
  /** The GitHub App of `github-app` access and its installation: digits. */
  readonly appId?: string
  readonly installationId?: string
  /** Directory of the tenant's repository, `./x`; absent: its root, or a directory named like the cluster. */
  readonly path?: string
  /** What its account may do inside its namespaces; absent: `tenant`. */
  readonly role?: TenantRole
  /** The Secret of `access` as SOPS sealed it: a whole file. */
  readonly sealed?: string
  /** Whether the cluster decrypts what the tenant encrypted with SOPS, by a key of this tenant alone. */
  readonly decryption?: TenantDecryption
  /** The Secret of `decryption` as SOPS sealed it: a whole file. */
  readonly sealedKey?: string
  /** Who works on it, as GitHub names it: `organization/team`, or one person. */
  readonly team?: string
  /** Directories at the root of the tenant's repository, where they are known. */
  readonly tenantDirectories?: readonly string[]
}

/** Part of a repository, by the field of `spec.ref` that names it. */
export interface TenantRef {
  readonly field: 'tag' | 'semver' | 'commit' | 'digest'
  readonly value: string
}

/** Credentials of a source: an SSH key of this repository alone, an HTTPS token, or a GitHub App of the fleet's owner. */
export const TENANT_ACCESS = ['deploy-key', 'token', 'github-app'] as const
/** What people write for a repository that the cluster reads without credentials. */
export const NO_ACCESS = 'none'
type TenantAccess = (typeof TENANT_ACCESS)[number]

/** How a tenant may encrypt what is in its repository. */
const TENANT_DECRYPTION = ['sops'] as const
type TenantDecryption = (typeof TENANT_DECRYPTION)[number]

/** What a tenant may be inside its namespaces: the role of the fleet's tenants, or one of Kubernetes itself, the most first. */
export const TENANT_ROLES = ['tenant', 'cluster-admin', 'admin', 'edit'] as const
export type TenantRole = (typeof TENANT_ROLES)[number]

/** The role that a request asks for. */
export const roleOf = ({ role }: OnboardRequest): TenantRole => role ?? 'tenant'

/** The ClusterRole of it. */
export function clusterRoleOf(request: OnboardRequest): string {
  const role = roleOf(request)
  return role === 'tenant' ? TENANT_ROLE : role
}

/** The account that applies what the tenant has in git. */
export const accountOf = ({ tenant, account }: OnboardRequest): string => account ?? tenant

/** The Secret with the credentials of its source; undefined where it needs none. */
export const secretOf = ({ tenant, access }: OnboardRequest): string | undefined =>
  access === undefined ? undefined : `${tenant}-auth`

/** The Secret with the key that decrypts its files; undefined where nothing is decrypted. */
export const keySecretOf = ({ tenant, decryption }: OnboardRequest): string | undefined =>
  decryption === undefined ? undefined : `${tenant}-sops`

/** The kubeconfig Secret of the tenant's account; capsule-addon-fluxcd uses the same name. */
export const kubeConfigSecretOf = (request: OnboardRequest): string => `${accountOf(request)}-kubeconfig`

/** Whether its content is an artifact of a registry. */
export const isArtifact = ({ url }: OnboardRequest): boolean => url.startsWith('oci://')

/** The address that Flux reads: a deploy key is used over SSH. */
export function sourceAddress({ url, access }: OnboardRequest): string {
  const address = URL.parse(url)
  if (access !== 'deploy-key' || address?.protocol !== 'https:') return url
  return `ssh://git@${address.host}${address.pathname}`
}

const LABEL = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/
const RESERVED = new Set(['flux-system', 'bailiwick-system', 'default', 'base', 'platform'])

/** An RFC 1123 label that is not in use. Throws `onboard-input`; `what`: the kind of name, for the message. */
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

/**
 * A checked value as a Markdown code span. Names, addresses and paths of an onboarding were checked on input; this
 * holds even for text that has not: no end of the span, no line break, no mention.
 */
export function codeSpan(value: string): string {
  const shown = [...value.slice(0, 300)]
    .map(char => (/[\x20-\x5f\x61-\x7e]/.test(char) ? char : escaped(char)))
    .join('')
  return `\`${shown.replaceAll('|', escaped('|')).trim() || '""'}\``
}

const escaped = (char: string) => `\\u{${char.codePointAt(0)!.toString(16)}}`
