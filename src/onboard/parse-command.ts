import { checkedBranch, checkedName, checkedPath, checkedRole, checkedUrl, inputError, quote } from './checked-names.ts'
import type { OnboardRequest } from './request.ts'

/** How to write it. */
export const ONBOARD_USAGE =
  'onboard TENANT --repo URL --namespace NS [--namespace NS2] --cluster C [--cluster C2] [--branch main] [--path ./x] [--role admin]'

const FIX = `Write: /bailiwick ${ONBOARD_USAGE}`
const OPTIONS = ['--repo', '--namespace', '--cluster', '--branch', '--path', '--role'] as const
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
  const path = one('--path')
  const role = one('--role')
  return {
    tenant: checkedName(tenant, 'tenant'),
    url: checkedUrl(repo),
    namespaces: many('--namespace', 'namespace'),
    clusters: many('--cluster', 'cluster'),
    branch: checkedBranch(one('--branch') ?? 'main'),
    ...(path === undefined ? {} : { path: checkedPath(path) }),
    ...(role === undefined ? {} : { role: checkedRole(role) }),
  }
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
  const { tenant, url, namespaces, clusters, branch, path, role } = request
  const parts = [
    `/bailiwick onboard ${tenant}`,
    `--repo ${url}`,
    ...namespaces.map(name => `--namespace ${name}`),
    ...clusters.map(name => `--cluster ${name}`),
    ...(branch === 'main' ? [] : [`--branch ${branch}`]),
    ...(path === undefined ? [] : [`--path ${path}`]),
    ...(role === undefined ? [] : [`--role ${role}`]),
  ]
  return parts.join(' ')
}
