import { removedWarning } from '../../base/removed.ts'
import {
  checkedAccess,
  checkedAppNumber,
  checkedBranch,
  checkedDecryption,
  checkedDuration,
  checkedName,
  checkedPath,
  checkedRef,
  checkedRole,
  checkedSwitch,
  checkedTeam,
  checkedUrl,
  inputError,
  NO_ACCESS,
  type OnboardRequest,
  quote,
  type TenantRef,
} from './request.ts'

/** How to write it. */
export const ONBOARD_USAGE =
  'onboard TENANT --repo URL --namespace NS [--namespace NS2] --cluster C [--cluster C2] [--branch main] [--path ./x] [--role edit] [--access deploy-key]'

const FIX = `Write: \`/bailiwick ${ONBOARD_USAGE}\`.`
const REFS = ['--tag', '--semver', '--commit', '--digest'] as const
const OPTIONS = [
  '--repo',
  '--namespace',
  '--cluster',
  '--branch',
  ...REFS,
  '--path',
  '--role',
  '--interval',
  '--prune',
  '--wait',
  '--timeout',
  '--service-account',
  '--access',
  '--app-id',
  '--app-installation-id',
  '--decryption',
  '--team',
  // of an earlier release: its value is ignored, see removedOption
  '--starter',
] as const
type Option = (typeof OPTIONS)[number]

/**
 * The request in the first line of a comment; undefined when the comment does not begin with `/bailiwick`. A quoted reply,
 * an indented line or a later line is not a command. Throws `onboard-input`, saying what is allowed.
 */
export function parseOnboardCommand(comment: string): OnboardRequest | undefined {
  const line = comment.split(/\r?\n/, 1)[0]!
  if (!/^\/bailiwick(?:\s|$)/.test(line)) return undefined
  if (line.length > 2000) throw inputError('the command is longer than 2,000 characters', FIX)
  const [, verb, ...args] = line.trimEnd().split(/[ \t]+/)
  if (verb !== 'onboard') throw inputError(`unknown command ${quote(verb ?? '')}`, FIX)
  return parseOnboardArguments(args)
}

/** The request in the arguments behind `onboard`. Throws `onboard-input`: nothing is guessed, nothing unknown is ignored. */
export function parseOnboardArguments(args: readonly string[]): OnboardRequest {
  const { tenant, options } = split(args)
  const one = (option: Option) => {
    const values = options.get(option) ?? []
    if (values.length > 1) throw inputError(`${option} is given ${values.length} times`, `${FIX}; ${option} only once.`)
    return values[0]
  }
  const many = (option: Option, what: 'namespace' | 'cluster') => {
    const values = options.get(option) ?? []
    if (values.length === 0) throw inputError(`${option} is missing`, FIX)
    if (values.length > 20) throw inputError(`${option} is given ${values.length} times`, 'At most 20 are allowed.')
    return [...new Set(values.map(value => checkedName(value, what)))]
  }
  const repo = one('--repo')
  if (repo === undefined) throw inputError('--repo is missing', FIX)
  const url = checkedUrl(repo)
  return {
    tenant: checkedName(tenant, 'tenant'),
    url,
    namespaces: many('--namespace', 'namespace'),
    clusters: many('--cluster', 'cluster'),
    branch: checkedBranch(one('--branch') ?? 'main'),
    ...refOf(one, url),
    ...given('path', one('--path'), checkedPath),
    ...given('role', one('--role'), checkedRole),
    ...given('interval', one('--interval'), value => checkedDuration(value, '--interval')),
    ...given('prune', one('--prune'), value => checkedSwitch(value, '--prune')),
    ...given('wait', one('--wait'), value => checkedSwitch(value, '--wait')),
    ...given('timeout', one('--timeout'), value => checkedDuration(value, '--timeout')),
    ...given('account', one('--service-account'), value => checkedName(value, 'account')),
    ...accessOf(one, url),
    ...given('decryption', one('--decryption'), checkedDecryption),
    ...given('team', one('--team'), checkedTeam),
  }
}

/** The warning where a command line names an option that was removed. */
export const removedOption = (line: string): string | undefined =>
  /(?:^|\s)--starter(?=[\s=]|$)/.test(line) ? removedWarning('--starter') : undefined

/** A field of the request where its option was given. */
function given<K extends keyof OnboardRequest, V>(key: K, value: string | undefined, check: (value: string) => V) {
  return value === undefined ? {} : ({ [key]: check(value) } as { readonly [key in K]: V })
}

/** `none` is the default. */
function accessOf(one: (option: Option) => string | undefined, url: string) {
  const value = one('--access')
  const access = value === undefined || value === NO_ACCESS ? undefined : checkedAccess(value, url)
  const numbers = {
    ...given('appId', one('--app-id'), number => checkedAppNumber(number, '--app-id')),
    ...given('installationId', one('--app-installation-id'), number =>
      checkedAppNumber(number, '--app-installation-id'),
    ),
  }
  const [unfit] = access === 'github-app' ? [] : Object.keys(numbers)
  if (unfit !== undefined)
    throw inputError(`--app-id does not fit --access ${value ?? NO_ACCESS}`, 'Write --access github-app.')
  return { ...(access === undefined ? {} : { access }), ...numbers }
}

function refOf(one: (option: Option) => string | undefined, url: string): { readonly ref?: TenantRef } {
  const named = REFS.filter(option => one(option) !== undefined)
  const isOci = url.startsWith('oci://')
  if (named.length + (one('--branch') === undefined ? 0 : 1) > 1 || (isOci && one('--branch') !== undefined)) {
    throw inputError('more than one reference is given', `Give one of --branch, ${REFS.join(', ')}.`)
  }
  const [option] = named
  if (option === undefined) {
    if (isOci) throw inputError('an artifact needs a reference', 'Give --tag, --semver or --digest.')
    return {}
  }
  if (isOci ? option === '--commit' : option === '--digest') {
    throw inputError(`${option} does not fit --repo ${quote(url)}`, `Give another of ${REFS.join(', ')}.`)
  }
  return { ref: checkedRef(option.slice(2) as TenantRef['field'], one(option)!) }
}

function split(args: readonly string[]): { tenant: string; options: Map<Option, string[]> } {
  const options = new Map<Option, string[]>()
  const names: string[] = []
  for (let index = 0; index < args.length; index++) {
    const arg = args[index]!
    if (!arg.startsWith('-')) {
      names.push(arg)
      continue
    }
    const equals = arg.indexOf('=')
    const name = equals < 0 ? arg : arg.slice(0, equals)
    const option = OPTIONS.find(known => known === name)
    if (!option) throw inputError(`unknown option ${quote(name)}`, FIX)
    const value = equals < 0 ? args[++index] : arg.slice(equals + 1)
    if (value === undefined || value === '' || value.startsWith('-')) throw inputError(`${option} has no value`, FIX)
    options.set(option, [...(options.get(option) ?? []), value])
  }
  const [tenant, extra] = names
  if (tenant === undefined) throw inputError('the name of the tenant is missing', FIX)
  if (extra !== undefined) throw inputError(`${quote(extra)} is an extra argument`, FIX)
  return { tenant, options }
}

/** The command that asks for exactly this: what people copy. */
export function onboardLine(request: OnboardRequest): string {
  const { tenant, url, namespaces, clusters, branch, ref } = request
  const option = (name: Option, value: string | boolean | undefined) =>
    value === undefined ? [] : [`${name} ${value}`]
  const parts = [
    `/bailiwick onboard ${tenant}`,
    `--repo ${url}`,
    ...namespaces.map(name => `--namespace ${name}`),
    ...clusters.map(name => `--cluster ${name}`),
    ...(branch === 'main' ? [] : [`--branch ${branch}`]),
    ...(ref ? [`--${ref.field} ${ref.value}`] : []),
    ...option('--path', request.path),
    ...option('--role', request.role),
    ...option('--interval', request.interval),
    ...option('--prune', request.prune),
    ...option('--wait', request.wait),
    ...option('--timeout', request.timeout),
    ...option('--service-account', request.account),
    ...option('--access', request.access),
    ...option('--app-id', request.appId),
    ...option('--app-installation-id', request.installationId),
    ...option('--decryption', request.decryption),
    ...option('--team', request.team),
  ]
  return parts.join(' ')
}
