import { BailiwickError } from '../../base/errors.ts'
import { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import type { Fleet, FleetNode } from '../../fleet/model/fleet.ts'
import { accountOf, applierKinds } from '../../fleet/model/kustomization-spec.ts'
import { overlayTree } from '../../fleet/rendering/trees.ts'
import { customScopes } from '../../kube/capabilities/scope.ts'
import { KUSTOMIZATION, ROOT_NAMESPACE } from '../../kube/flux-kinds.ts'
import { display, groupOf, idOf, isSubdomain } from '../../kube/object.ts'
import {
  type AccountRequest,
  type CustomKinds,
  confirmApply,
  grantingRequests,
  isNamespace,
  neededRequests,
} from '../../kube/rbac/apply-requests.ts'
import { RBAC_GROUP } from '../../kube/rbac/binding.ts'
import {
  leastRules,
  type PolicyRule,
  type RulesByNamespace,
  userInfo,
  userOfAccount,
} from '../../kube/rbac/policy-rule.ts'
import { customPlurals } from '../../kube/rbac/resources.ts'
import { type ManifestMap, printManifests } from '../onboard/manifests.ts'
import { type ExpectedChange, keyOf, placesFor, setAccount, textOf, unexpectedChange } from './adopted-files.ts'
import {
  type AdoptableFleet,
  type AdoptedFile,
  type AdoptionPlan,
  type AdoptRequest,
  chooseNodes,
  type ProvenKustomization,
  writtenAt,
} from './adoption.ts'

/**
 * The pull request that moves Kustomizations from cluster-admin to an account with the least rights that cover what they render
 * today. The result is rendered again: every object is evaluated under the new account, and everything else must be as it
 * was. Throws `adopt-input`, `adopt-layout` and, for a plan that cannot be proven, `adopt-not-proven`.
 */
export function planAdoption(before: AdoptableFleet, request: AdoptRequest): AdoptionPlan {
  const account = request.account ?? `flux-${request.name}`
  if (!isSubdomain(account) || account.length > 63) {
    throw new BailiwickError('adopt-input', `${JSON.stringify(account)}: not a valid name of a service account`, {
      fix: 'Name one with --service-account: lower-case letters, digits and dashes.',
    })
  }
  const { nodes, left } = chooseNodes(before.fleet, request)
  const plan = { files: new Map<string, string>(), proven: [] as ProvenKustomization[], loud: [] as string[] }
  for (const group of byClusters(nodes)) {
    const tree = overlayTree(before.tree, plan.files)
    const fleet = plan.files.size === 0 ? before.fleet : before.build(tree)
    const { files, proven, loud } = planGroup({ ...before, tree, fleet }, group, account)
    for (const [path, text] of files) plan.files.set(path, text)
    plan.proven.push(...proven)
    plan.loud.push(...loud)
  }
  return {
    account,
    files: changedFiles(before, plan.files),
    proven: plan.proven,
    loud: [...new Set(plan.loud)],
    left: [...left, ...notAdopted(before.fleet, nodes)],
  }
}

/** Keys of the Kustomizations that share an account: those of the same clusters. */
function byClusters(nodes: readonly FleetNode[]): ReadonlySet<string>[] {
  const places = [...Map.groupBy(nodes, writtenAt).values()]
  const groups = Map.groupBy(places, same => [...new Set(same.map(({ cluster }) => cluster))].sort().join(' '))
  return [...groups.values()].map(group => new Set(group.flat().map(({ key }) => key)))
}

/** The same for Kustomizations that are written for the same clusters. */
function planGroup(
  before: AdoptableFleet,
  keys: ReadonlySet<string>,
  account: string,
): Pick<AdoptionPlan, 'proven' | 'loud'> & { readonly files: ReadonlyMap<string, string> } {
  const nodes = before.fleet.nodes.filter(({ key }) => keys.has(key))
  const customOf = customKinds(before.fleet)
  const draft = new Draft(before, nodes, account, customOf)
  refusePresent(before.fleet, nodes, draft.rights(new Map()))
  const first = nodes.map(node => [node, requestsOf(node, customOf(node.cluster), draft.made)] as const)
  const index = new FleetIndex(draft.place(new Map(first)).fleet)
  const all = first.map(([node, requests]) => {
    const user = userInfo(userOfAccount(node.namespace, account))
    return [node, [...requests, ...grantingRequests(index.authorizer(node.cluster), user, node)]] as const
  })
  const { files, fleet: after } = draft.place(new Map(all))
  return { files, proven: prove(after, keys, customOf, draft.made), loud: loudRights(draft.rights(new Map(all))) }
}

function requestsOf(node: FleetNode, custom: CustomKinds, made: ReadonlySet<string>): readonly AccountRequest[] {
  const { requests, unknown } = neededRequests(node, custom, made)
  if (unknown.length > 0) throw notProven(node, unknown.join('; '))
  return requests
}

/** Definitions of any Kustomization of the cluster count: adopting is the platform's own act. */
function customKinds({ nodes }: Fleet): (cluster: string) => CustomKinds {
  const known = new Map<string, CustomKinds>()
  return cluster => {
    const objects = nodes.filter(node => node.cluster === cluster).flatMap(node => node.objects)
    const custom = known.get(cluster) ?? { scopes: customScopes(objects), plurals: customPlurals(objects) }
    known.set(cluster, custom)
    return custom
  }
}

type Requests = ReadonlyMap<FleetNode, readonly AccountRequest[]>

/** The files of an adoption, as the fleet renders them. */
class Draft {
  readonly #before: AdoptableFleet
  readonly #nodes: readonly FleetNode[]
  readonly #account: string
  readonly #shared: ReadonlySet<string>
  readonly #customOf: (cluster: string) => CustomKinds
  /** Namespaces that an adopted Kustomization itself renders: on an empty cluster its roles would have no place. */
  readonly made: ReadonlySet<string>

  constructor(
    before: AdoptableFleet,
    nodes: readonly FleetNode[],
    account: string,
    customOf: (cluster: string) => CustomKinds,
  ) {
    this.#before = before
    this.#nodes = nodes
    this.#account = account
    this.#customOf = customOf
    const clusters = new Set(nodes.map(({ cluster }) => cluster))
    const others = before.fleet.nodes.filter(node => clusters.has(node.cluster) && !nodes.includes(node))
    const used = others.flatMap(node => node.objects.map(object => idOf(object).namespace))
    this.#shared = new Set([ROOT_NAMESPACE, ...used])
    const ids = nodes.flatMap(node => node.objects.map(idOf))
    const homes = new Set([...nodes.map(({ namespace }) => namespace), ...ids.map(({ namespace }) => namespace)])
    this.made = new Set(ids.filter(id => isNamespace(id) && homes.has(id.name)).map(({ name }) => name))
  }

  rights(requests: Requests): readonly AccountRights[] {
    const byNamespace = Map.groupBy(this.#nodes, node => node.namespace)
    const name = this.#account
    return [...byNamespace]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([namespace, own]) => {
        const needed = own.flatMap(node => requests.get(node) ?? []).map(({ request }) => request)
        const roles = byNamespace.size === 1 ? name : `${name}-${namespace}`
        return { namespace, name, roles, rules: leastRules(needed, this.#shared) }
      })
  }

  /** The first way of writing it under which everything else renders as before. */
  place(requests: Requests): { readonly files: ReadonlyMap<string, string>; readonly fleet: Fleet } {
    const { tree, url, fleet } = this.#before
    const rights = this.rights(requests)
    const content = rightsManifest(rights, [...this.made].sort())
    const file = { name: `${this.#account}.yaml`, content }
    const kustomizations = this.#nodes.map(node => node.kustomization)
    const expected: ExpectedChange = {
      account: this.#account,
      adopted: new Set(this.#nodes.map(({ key }) => key)),
      added: new Set(objectKeys(rights, [...this.made])),
      edited: new Set(kustomizations.map(object => keyOf(idOf(object)))),
    }
    const edits = setAccount(tree, url, kustomizations, this.#account)
    const problems: string[] = []
    for (const place of this.#places(file)) {
      const files = new Map([...place, ...edits])
      const after = this.#before.build(overlayTree(tree, files))
      const problem = unexpectedChange(fleet, after, expected) ?? this.#refusedToParents(after, expected.added)
      if (problem === undefined) return { files, fleet: after }
      problems.push(`${[...place.keys()].join(', ')}: ${problem}`)
    }
    throw this.#cannotPlace(problems)
  }

  #places(file: { readonly name: string; readonly content: string }): ReadonlyMap<string, string>[] {
    const { fleet, tree } = this.#before
    const [node] = this.#nodes
    const parent = fleet.nodes.find(one => one.key === node?.parent)
    return node && parent ? placesFor(tree, node, parent, file) : []
  }

  /** A parent that has an account itself may not be able to give these rights. */
  #refusedToParents(after: Fleet, added: ReadonlySet<string>): string | undefined {
    const index = new FleetIndex(after)
    const above = new Set(this.#nodes.map(({ parent }) => parent))
    const adopted = new Set(this.#nodes.map(({ key }) => key))
    const parents = after.nodes.filter(
      ({ key, identity }) => identity.impersonated && above.has(key) && !adopted.has(key),
    )
    for (const parent of parents) {
      const only = { ...parent, objects: parent.objects.filter(object => added.has(keyOf(idOf(object)))) }
      const authorizer = index.authorizer(parent.cluster)
      const user = userInfo(parent.identity.user)
      const { requests } = neededRequests(only, this.#customOf(parent.cluster))
      const refused = requests.map(one => authorizer.authorize(user, one.request)).find(one => !one.allowed)
      if (refused && !refused.allowed) return `${parent.key} may not apply it: ${refused.message}`
      const [granting] = grantingRequests(authorizer, user, only)
      if (granting && !authorizer.allows(user, granting.request)) {
        return `${parent.key} may not apply it: ${parent.identity.user} cannot ${granting.request.verb} ${granting.about}`
      }
    }
    return undefined
  }

  #cannotPlace(problems: readonly string[]): BailiwickError {
    const [first] = this.#nodes
    const what = problems.length > 0 ? problems.join('; ') : 'no folder of its parent can be changed'
    return new BailiwickError('adopt-layout', `the account cannot be added to this layout: ${what}`, {
      fix: 'Adopt the Kustomizations of one cluster and folder at a time with --kustomization. Or move what changes all objects of the folder (namespace, prefix, patches without a target).',
      origin: first?.kustomization.root.origin,
    })
  }
}

function objectKeys(rights: readonly AccountRights[], namespaces: readonly string[]): string[] {
  const rbac = 'rbac.authorization.k8s.io'
  return [
    ...namespaces.map(name => `/Namespace /${name}`),
    ...rights.flatMap(({ namespace: home, name, roles, rules }) => [
      `/ServiceAccount ${home}/${name}`,
      ...[...rules.keys()].flatMap(namespace => {
        const kind = namespace === '' ? 'ClusterRole' : 'Role'
        return [`${rbac}/${kind} ${namespace}/${roles}`, `${rbac}/${kind}Binding ${namespace}/${roles}`]
      }),
    ]),
  ]
}

/** If another object uses the account already, it would get these rights too. */
function refusePresent(fleet: Fleet, nodes: readonly FleetNode[], rights: readonly AccountRights[]): void {
  const clusters = new Set(nodes.map(({ cluster }) => cluster))
  const wanted = new Set(objectKeys(rights, []))
  const names = new Set(rights.map(({ roles }) => roles))
  for (const node of fleet.nodes.filter(({ cluster }) => clusters.has(cluster))) {
    for (const object of node.objects) {
      const id = idOf(object)
      const isRole = groupOf(id.apiVersion) === 'rbac.authorization.k8s.io' && names.has(id.name)
      if (!wanted.has(keyOf(id)) && !isRole) continue
      throw new BailiwickError('adopt-input', `${display(id)}: exists already, in ${node.key}`, {
        fix: 'Name another account with --service-account.',
        origin: object.root.origin,
      })
    }
  }
}

function loudRights(rights: readonly AccountRights[]): string[] {
  return rights.flatMap(({ rules, roles }) =>
    [...rules].flatMap(([namespace, own]) => own.flatMap(rule => loudRule(rule, namespace, roles))),
  )
}

function loudRule({ verbs, resources, resourceNames }: PolicyRule, namespace: string, roles: string): string[] {
  const what = `${verbs.join(', ')} ${resources.join(', ')}${resourceNames.length > 0 ? ` named ${resourceNames.join(', ')}` : ''}`
  if (verbs.includes('escalate')) {
    return [`${roles}: ${what}: these roles can be given any right ${where(namespace)} by a change in git`]
  }
  if (verbs.includes('bind') && resources.includes('clusterroles')) {
    return [`${roles}: ${what}: bindings in git can give these roles ${where(namespace)} to anyone`]
  }
  return namespace === '' ? [`ClusterRole ${roles}: ${what}`] : []
}

const where = (namespace: string) => (namespace === '' ? 'in the whole cluster' : `in ${namespace}`)

/** What a controller applies as itself, and what it applies is not visible: nothing about its rights is guessed. */
function notAdopted(fleet: Fleet, nodes: readonly FleetNode[]): string[] {
  const others = applierKinds.filter(kind => kind !== KUSTOMIZATION)
  return nodes.flatMap(node =>
    node.objects.flatMap(object => {
      const id = idOf(object)
      const lockdown = fleet.clusters.find(({ name }) => name === node.cluster)?.lockdown
      if (!others.includes(`${groupOf(id.apiVersion)}/${id.kind}`) || accountOf(object, lockdown)) return []
      return [
        `${display(id)}: its controller still applies it as itself. What its chart or module renders is not visible`,
      ]
    }),
  )
}

function changedFiles({ tree }: AdoptableFleet, files: ReadonlyMap<string, string>): AdoptedFile[] {
  return [...files]
    .filter(([path, content]) => tree.entry(path) === undefined || textOf(tree, path) !== content)
    .map(([path, content]): AdoptedFile => ({ path, content, change: tree.entry(path) ? 'edited' : 'created' }))
    .sort((a, b) => (a.path < b.path ? -1 : 1))
}

/**
 * Evaluates each request of Kustomizations with the RBAC that the fleet renders for their clusters. Throws `adopt-not-proven`
 * with the API server's own words for the first that is refused.
 */
function prove(
  after: Fleet,
  keys: ReadonlySet<string>,
  customOf: (cluster: string) => CustomKinds,
  made: ReadonlySet<string>,
): ProvenKustomization[] {
  const index = new FleetIndex(after)
  return after.nodes
    .filter(node => keys.has(node.key))
    .map(node => proveNode(index, node, customOf(node.cluster), made))
}

function proveNode(
  index: FleetIndex,
  node: FleetNode,
  custom: CustomKinds,
  made: ReadonlySet<string>,
): ProvenKustomization {
  const { user: name } = node.identity
  const user = userInfo(name)
  const authorizer = index.authorizer(node.cluster)
  const { requests, unknown } = neededRequests(node, custom, made)
  if (unknown.length > 0) throw notProven(node, unknown.join('; '))
  for (const { request, about } of requests) {
    const decision = authorizer.authorize(user, request)
    if (!decision.allowed) throw notProven(node, `${about}: ${decision.message}`)
  }
  for (const object of node.objects) {
    const id = idOf(object)
    const change = isNamespace(id) && made.has(id.name) ? 'change' : 'add'
    const [refusal] = confirmApply(authorizer, user, object, change, custom)
    if (refusal) throw notProven(node, refusal.message)
  }
  return { key: node.key, user: name, objects: node.objects.length, requests: requests.length }
}

function notProven(node: FleetNode, why: string): BailiwickError {
  return new BailiwickError('adopt-not-proven', `${node.key}: not proven that all of it is still applied: ${why}`, {
    fix: 'Add the CustomResourceDefinitions of its kinds to the fleet, or correct what is named, then run the command again.',
    origin: node.kustomization.root.origin,
  })
}

/** An account and everything that it may do. */
interface AccountRights {
  readonly namespace: string
  readonly name: string
  /** Name of its roles and bindings. */
  readonly roles: string
  readonly rules: RulesByNamespace
}

/** Applied by two Kustomizations: the one with the account's roles makes it only where it is missing, and never deletes it. */
const IF_MISSING = {
  'kustomize.toolkit.fluxcd.io/prune': 'disabled',
  'kustomize.toolkit.fluxcd.io/ssa': 'IfNotPresent',
}

/** Accounts with their roles and bindings as YAML, and the namespaces that must be there before the roles. */
function rightsManifest(accounts: readonly AccountRights[], namespaces: readonly string[]): string {
  return printManifests([
    ...namespaces.map(name => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, annotations: IF_MISSING } })),
    ...accounts.flatMap(account => [
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: account.name, namespace: account.namespace } },
      ...[...account.rules].flatMap(([namespace, rules]) => bound(account, namespace, rules)),
    ]),
  ])
}

function bound(account: AccountRights, namespace: string, rules: readonly PolicyRule[]): ManifestMap[] {
  const kind = namespace === '' ? 'ClusterRole' : 'Role'
  const metadata = { name: account.roles, ...(namespace === '' ? {} : { namespace }) }
  const apiVersion = `${RBAC_GROUP}/v1`
  const subjects = [{ kind: 'ServiceAccount', name: account.name, namespace: account.namespace }]
  return [
    { apiVersion, kind, metadata, rules: rules.map(ruleOf) },
    {
      apiVersion,
      kind: `${kind}Binding`,
      metadata,
      roleRef: { apiGroup: RBAC_GROUP, kind, name: account.roles },
      subjects,
    },
  ]
}

const ruleOf = ({ apiGroups, resources, resourceNames, verbs }: PolicyRule): ManifestMap => ({
  apiGroups,
  resources,
  resourceNames: resourceNames.length > 0 ? resourceNames : undefined,
  verbs,
})
