import { at, stringAt } from '../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../kube/object.ts'
import type { Lockdown } from './fleet.ts'

/** Nothing is locked down: Flux's own defaults. */
export const OPEN: Lockdown = { noCrossNamespaceRefs: false, noRemoteBases: false }

/** The controllers that apply what tenants write; both must refuse references across namespaces, where installed. */
const REFERRING = ['kustomize-controller', 'helm-controller']

/**
 * Flux's multi-tenancy flags as the rendered Deployments of a cluster set them; undefined where none of them is
 * kustomize-controller. A flag that is given twice counts as Go's flag parser takes it: the last one wins.
 */
export function readLockdown(objects: readonly KubeObject[]): Lockdown | undefined {
  const flags = new Map<string, Map<string, string>>()
  for (const object of objects) {
    const { apiVersion, kind, name } = idOf(object)
    if (kind === 'Deployment' && groupOf(apiVersion) === 'apps') flags.set(name, readFlags(object))
  }
  const kustomize = flags.get('kustomize-controller')
  if (!kustomize) return undefined
  const present = REFERRING.flatMap(name => flags.get(name) ?? [])
  const account = kustomize.get('default-service-account')
  const helmAccount = flags.get('helm-controller')?.get('default-service-account')
  return {
    noCrossNamespaceRefs: present.every(one => isOn(one.get('no-cross-namespace-refs'))),
    noRemoteBases: isOn(kustomize.get('no-remote-bases')),
    ...(account ? { defaultServiceAccount: account } : {}),
    ...(helmAccount ? { helmDefaultServiceAccount: helmAccount } : {}),
  }
}

/** Spellings of true in Go's strconv.ParseBool; a bare flag is true. */
const isOn = (value: string | undefined) =>
  value !== undefined && ['1', 't', 'T', 'TRUE', 'true', 'True'].includes(value)

const BOOLEAN = new Set([
  'no-cross-namespace-refs',
  'no-remote-bases',
  'watch-all-namespaces',
  'enable-leader-election',
])

function readFlags(deployment: KubeObject): Map<string, string> {
  const containers = at(deployment.root, ['spec', 'template', 'spec', 'containers'])
  const items = containers?.type === 'list' ? containers.items : []
  const manager = items.find(item => stringAt(item, ['name']) === 'manager') ?? items[0]
  const list = at(manager, ['args'])
  const args = list?.type === 'list' ? list.items.map(item => (item.type === 'scalar' ? String(item.value) : '')) : []
  const flags = new Map<string, string>()
  for (let index = 0; index < args.length; index++) {
    const arg = args[index]!
    if (arg === '--') break
    if (!arg.startsWith('--')) continue
    const equals = arg.indexOf('=')
    const name = arg.slice(2, equals < 0 ? undefined : equals)
    if (equals >= 0) flags.set(name, arg.slice(equals + 1))
    else if (BOOLEAN.has(name) || args[index + 1] === undefined || args[index + 1]!.startsWith('--'))
      flags.set(name, 'true')
    else flags.set(name, args[++index]!)
  }
  return flags
}
