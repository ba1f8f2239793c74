import { BailiwickError } from '../../base/errors.ts'
import { installedControllers, LOCKDOWN_FLAGS } from '../../fleet/bootstrap/lockdown.ts'
import { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import {
  type Cluster,
  type Fleet,
  type FleetNode,
  type Lockdown,
  nodesByKey,
  whyIncomplete,
} from '../../fleet/model/fleet.ts'
import { accountOf, applierKinds, kubeConfigOf } from '../../fleet/model/kustomization-spec.ts'
import { overlayTree } from '../../fleet/rendering/trees.ts'
import { references } from '../../flux/references.ts'
import { customScopes } from '../../kube/capabilities/scope.ts'
import { KUSTOMIZATION, ROOT_NAME } from '../../kube/flux-kinds.ts'
import { canonical } from '../../kube/node.ts'
import { display, groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import { type CustomKinds, neededRequests } from '../../kube/rbac/apply-requests.ts'
import { userInfo, userOfAccount } from '../../kube/rbac/policy-rule.ts'
import { customPlurals } from '../../kube/rbac/resources.ts'
import { addToList } from '../onboard/edit-kustomization.ts'
import { codeSpan } from '../onboard/request.ts'
import { kustomizationFile } from '../onboard/tenant-layout.ts'
import { keyOf, textOf } from './adopted-files.ts'
import { type AdoptableFleet, type AdoptedFile, type FleetChange, list } from './adoption.ts'

/**
 * The pull request that sets the next flag of Flux's lockdown on a cluster; undefined where all are set. The flag is set in the
 * folder where Flux is installed, and the fleet is rendered with it: `adopt-not-proven` lists what would stop working.
 */
export function planLockdown(before: AdoptableFleet, name: string): FleetChange | undefined {
  const cluster = before.fleet.clusters.find(one => one.name === name)
  if (!cluster) {
    const names = before.fleet.clusters.map(one => one.name).join(', ') || 'none'
    throw new BailiwickError('adopt-input', `this fleet has no cluster ${JSON.stringify(name)}`, {
      fix: `Clusters of this fleet: ${names}.`,
    })
  }
  const step = LOCKDOWN_STEPS.find(one => !one.isSet(cluster.lockdown))
  if (!step) return undefined
  const files = filesOf(before, cluster, step)
  const after = before.build(overlayTree(before.tree, files))
  assertSet(after, cluster, step)
  const problem = otherChange(before.fleet, after, cluster)
  const objects = before.fleet.nodes.filter(node => node.cluster === name).flatMap(node => node.objects)
  const custom = { scopes: customScopes(objects), plurals: customPlurals(objects) }
  const broken = [
    ...(problem === undefined ? [] : [problem]),
    ...step.breaks({ before: before.fleet, after }, name, custom),
  ]
  if (broken.length > 0) throw breaking(step, name, broken)
  return changeOf(before, cluster, step, files)
}

/** The flag as a patch of its own beside the others, in the kustomization that installs Flux. */
function filesOf({ tree }: AdoptableFleet, cluster: Cluster, step: LockdownStep): Map<string, string> {
  const folder = [cluster.path, 'flux-system'].filter(part => part !== '').join('/')
  const file = kustomizationFile(tree, folder)
  if (file === undefined || cluster.lockdown.flux?.from === 'flux-instance') {
    throw new BailiwickError(
      'adopt-layout',
      `${folder}: has no kustomization file with which Flux is installed on ${cluster.name}`,
      {
        fix: `Set --${step.flag}=${step.value} where Flux is installed (spec.cluster.multitenant of a FluxInstance, or values of its chart).`,
      },
    )
  }
  const controllers = LOCKDOWN_FLAGS.find(one => one.name === step.flag)!.controllers
  const patch = `${step.flag}.yaml`
  const add = (path: string, value: string) => `- op: add\n  path: ${path}\n  value: ${value}\n`
  const target = { kind: 'Deployment', name: `(${controllers.join('|')})` }
  let text = addToList({ path: file, text: textOf(tree, file) }, 'patches', { path: patch, target })
  const files = new Map([
    [`${folder}/${patch}`, add('/spec/template/spec/containers/0/args/-', `--${step.flag}=${step.value}`)],
  ])
  if (step.flag === 'default-service-account') {
    // what Flux itself applies keeps its rights
    const own = `${ROOT_NAME}-account.yaml`
    text = addToList({ path: file, text }, 'patches', { path: own, target: { kind: 'Kustomization', name: ROOT_NAME } })
    files.set(`${folder}/${own}`, add('/spec/serviceAccountName', 'kustomize-controller'))
  }
  const present = [...files.keys()].find(path => tree.entry(path) !== undefined)
  if (present !== undefined) {
    throw new BailiwickError('adopt-layout', `${present}: exists already`, { fix: 'Move that file away first.' })
  }
  return files.set(file, text)
}

function assertSet({ clusters }: Fleet, { name }: Cluster, step: LockdownStep): void {
  const lockdown = clusters.find(one => one.name === name)?.lockdown
  if (lockdown && step.isSet(lockdown)) return
  throw new BailiwickError('adopt-layout', `--${step.flag} would have no effect on ${name}`, {
    fix: 'Correct the kustomization that installs Flux: its patches must reach the Deployments of the controllers.',
  })
}

/** Anything but Deployments of Flux, and the Kustomization of the root, that would be other than before. */
function otherChange(before: Fleet, after: Fleet, { name }: Cluster): string | undefined {
  const now = nodesByKey(after.nodes)
  for (const node of before.nodes) {
    const next = new Map(now.get(node.key)?.objects.map(object => [keyOf(idOf(object)), object]))
    if (node.error === undefined && now.get(node.key)?.error === undefined && next.size !== node.objects.length) {
      return `${node.key} would have other objects`
    }
    const changed = node.objects.find(object => {
      const id = idOf(object)
      const isFlux = node.cluster === name && (id.kind === 'Deployment' || id.name === ROOT_NAME)
      const other = next.get(keyOf(id))
      return !isFlux && other !== undefined && canonical(other.root) !== canonical(object.root)
    })
    if (changed) return `${keyOf(idOf(changed))} of ${node.key} would change`
  }
  return undefined
}

function breaking(step: LockdownStep, cluster: string, broken: readonly string[]): BailiwickError {
  const shown = broken.slice(0, 10).join('; ')
  const more = broken.length > 10 ? `; and ${broken.length - 10} more` : ''
  return new BailiwickError('adopt-not-proven', `--${step.flag} would break ${cluster}: ${shown}${more}`, {
    fix: FIXES[step.flag],
  })
}

const FIXES: Readonly<Record<LockdownStep['flag'], string>> = {
  'no-remote-bases': 'Copy the base into the repository, or make it a source of its own.',
  'no-cross-namespace-refs': 'Declare the source in the namespace of what refers to it.',
  'default-service-account':
    'Give each an account with `bailiwick adopt`, or write spec.serviceAccountName: kustomize-controller for what stays cluster-admin.',
}

function changeOf(
  { tree }: AdoptableFleet,
  { name }: Cluster,
  step: LockdownStep,
  files: ReadonlyMap<string, string>,
): FleetChange {
  const rest = LOCKDOWN_STEPS.slice(LOCKDOWN_STEPS.indexOf(step) + 1).map(({ flag }) => codeSpan(`--${flag}`))
  const why = LOCKDOWN_FLAGS.find(one => one.name === step.flag)!.why
  const body = [
    `Sets ${codeSpan(`--${step.flag}=${step.value}`)} for the controllers of Flux on ${codeSpan(name)}. Without it, ${why}.`,
    'The fleet was rendered with the flag: everything is applied as before.',
    ...(rest.length > 0 ? [`Next, after this is merged:\n\n${list(rest)}`] : []),
  ].join('\n\n')
  return {
    files: [...files]
      .map(([path, content]): AdoptedFile => ({ path, content, change: tree.entry(path) ? 'edited' : 'created' }))
      .sort((a, b) => (a.path < b.path ? -1 : 1)),
    title: `Set --${step.flag} on ${name}`,
    body,
    slug: `${step.flag}-${name}`,
  }
}

/** One flag of the lockdown, in the order in which they break the least. */
interface LockdownStep {
  readonly flag: 'no-remote-bases' | 'no-cross-namespace-refs' | 'default-service-account'
  readonly value: string
  /** Whether it is on. */
  isSet(lockdown: Lockdown): boolean
  /** What would stop working with it, each in a sentence. `after`: the fleet with the flag. */
  breaks(fleets: { before: Fleet; after: Fleet }, cluster: string, custom: CustomKinds): string[]
}

/** A Kustomization whose content is not known may hold anything. */
function notVisible({ nodes }: Fleet, cluster: string): string[] {
  return nodes.flatMap(node => {
    const why = node.cluster === cluster ? (node.source.opaque ?? whyIncomplete(node)?.message) : undefined
    return why === undefined ? [] : [`${node.key} is not visible: ${why}`]
  })
}

/** The steps: bases first, then references, and the accounts when everything has one. */
const LOCKDOWN_STEPS: readonly LockdownStep[] = [
  {
    flag: 'no-remote-bases',
    value: 'true',
    isSet: lockdown => lockdown.noRemoteBases,
    breaks: ({ before, after }, cluster) => {
      const fails = after.nodes.filter(node => {
        const was = before.nodes.find(({ key }) => key === node.key)
        return (
          node.cluster === cluster &&
          whyIncomplete(node) !== undefined &&
          whyIncomplete(was ?? node)?.message !== whyIncomplete(node)?.message
        )
      })
      const remote = after.nodes.filter(node => node.cluster === cluster && (node.remotes ?? []).length > 0)
      const names = new Set([...fails, ...remote].map(({ key }) => key))
      return [...notVisible(before, cluster), ...[...names].map(key => `${key} loads a remote base`)]
    },
  },
  {
    flag: 'no-cross-namespace-refs',
    value: 'true',
    isSet: lockdown => lockdown.noCrossNamespaceRefs,
    breaks: ({ before }, cluster) => [
      ...notVisible(before, cluster),
      ...objectsOn(before, cluster).flatMap(({ object }) =>
        references(object)
          .filter(one => one.refusedByFlux && one.namespace !== idOf(object).namespace)
          .map(one => `${display(idOf(object))} refers to ${one.kind} ${one.namespace}/${one.name}`),
      ),
    ],
  },
  {
    flag: 'default-service-account',
    value: 'default',
    isSet: ({ defaultServiceAccount, helmDefaultServiceAccount, flux }) =>
      defaultServiceAccount !== undefined &&
      (helmDefaultServiceAccount !== undefined || !(flux && installedControllers(flux).includes('helm-controller'))),
    breaks: ({ before, after }, cluster, custom) => [
      ...notVisible(before, cluster),
      ...refusedKustomizations(after, cluster, custom),
      ...refusedReleases(after, cluster),
    ],
  },
]

function objectsOn({ nodes }: Fleet, cluster: string): { readonly node: FleetNode; readonly object: KubeObject }[] {
  const here = nodes.filter(node => node.cluster === cluster)
  return here.flatMap(node => node.objects.map(object => ({ node, object })))
}

/** Kustomizations that the default account would apply, and is refused something of. */
function refusedKustomizations(after: Fleet, cluster: string, custom: CustomKinds): string[] {
  const authorizer = new FleetIndex(after).authorizer(cluster)
  return after.nodes.flatMap(node => {
    const { user } = node.identity
    const isRoot = node.parent === undefined
    if (node.cluster !== cluster || node.hub !== undefined || isRoot || !isDefaulted(node, after)) return []
    const { requests, unknown } = neededRequests(node, custom)
    if (unknown.length > 0) return [`${node.key} has no account, and ${unknown[0]}`]
    const refused = requests.find(({ request }) => !authorizer.allows(userInfo(user), request))
    return refused ? [`${node.key} has no account, and ${user} may not ${refused.request.verb} ${refused.about}`] : []
  })
}

/** Whether it is the flag that gives a Kustomization its account. */
function isDefaulted(node: FleetNode, { clusters }: Fleet): boolean {
  const lockdown = clusters.find(({ name }) => name === node.cluster)?.lockdown
  return accountOf(node.kustomization, undefined) === undefined && accountOf(node.kustomization, lockdown) !== undefined
}

/** What their charts render is not visible, so only an account that may do everything is known to be enough. */
function refusedReleases(after: Fleet, cluster: string): string[] {
  const authorizer = new FleetIndex(after).authorizer(cluster)
  const lockdown = after.clusters.find(({ name }) => name === cluster)?.lockdown
  return objectsOn(after, cluster).flatMap(({ object }) => {
    const id = idOf(object)
    const kind = `${groupOf(id.apiVersion)}/${id.kind}`
    if (kind === KUSTOMIZATION || !applierKinds.includes(kind) || kubeConfigOf(object)) return []
    const account = accountOf(object, lockdown)
    if (accountOf(object, undefined) !== undefined || account === undefined) return []
    const user = userInfo(userOfAccount(id.namespace, account))
    const all = { verb: '*', apiGroup: '*', resource: '*', namespace: '', name: '' }
    return authorizer.allows(user, all) ? [] : [`${display(id)} has no account, and what it renders is not visible`]
  })
}
