import { capital, listed, type Message, message, part } from '../base/message.ts'
import type { Origin } from '../base/origin.ts'
import { isMultitenant, MULTITENANT } from '../fleet/bootstrap/flux-instance.ts'
import {
  controllerFlags,
  controllerRunBy,
  controllersByName,
  flagsByController,
  installedControllers,
  isOn,
  LOCKDOWN_FLAGS,
  type LockdownFlag,
  lockdownValue,
  WEAKENING_FLAGS,
} from '../fleet/bootstrap/lockdown.ts'
import type { ClusterFacts } from '../fleet/facts/facts.ts'
import { lostCause } from '../fleet/facts/fingerprint.ts'
import type { FleetIndex } from '../fleet/facts/fleet-index.ts'
import { identityPart, objectPart, quoted } from '../fleet/facts/shown.ts'
import { type Cluster, type FleetNode, isIncomplete, type OtherStart } from '../fleet/model/fleet.ts'
import { hasMoreCauses } from '../fleet/model/input.ts'
import { artifactPath } from '../flux/artifact.ts'
import { FLUX_INSTANCE, kindsThat, valuesOf } from '../kube/flux-kinds.ts'
import { originAt } from '../kube/node.ts'
import { flagCause, flagOrigin } from './identity/default-account.ts'
import { type Rule, type RuleContext, Subject, type Violation } from './model/rule.ts'

/** Kinds that configure Flux for the Flux Operator; a ResourceSet applies objects as an account and does not count. */
const KINDS = kindsThat(row => row.configuresFlux)

/** For each kind that makes the Flux Operator start from a folder, the field that names the folder. */
const SYNCS = valuesOf(row => row.starts)

/** The kinds that may start a cluster. */
const STARTING_KINDS: readonly string[] = [...SYNCS.keys()]

/** Only the platform decides how Flux runs, whatever namespace the object is in. */
export const fluxControlPlaneObject: Rule = {
  id: 'flux-control-plane-object',
  severity: 'critical',
  title: 'Flux control plane object in tenant content',
  why: 'The Flux Operator applies a FluxInstance with cluster-admin rights. A FluxInstance can disable the lockdown, patch the controllers or follow another repository.',
  source: 'fluxcd.controlplane.io API of the Flux Operator',
  docs: 'Keep FluxInstance and FluxReport in the fleet repository. The sync path of a FluxInstance must be the folder of the cluster that it is applied to. No cluster may start from a folder that a tenant deploys from. A new cluster is a required approval of a fleet admin.',
  kinds: [...new Set([...KINDS, ...STARTING_KINDS])],
  *checkCluster(cluster, { index }) {
    const node = index.rootOf(cluster.name)
    for (const start of node ? (cluster.tenantStarts ?? []) : []) yield startOfTenant(node!, start)
  },
  *checkObject(subject, context) {
    if (subject.node.tenant === undefined) yield* elsewhereStarted(subject, context)
    else if (KINDS.includes(subject.kind)) yield violation(subject)
  },
}

function startOfTenant(node: FleetNode, { file, text: path }: OtherStart): Violation {
  const { repository } = node.kustomization.root.origin
  return Subject.ofNode(node).violation(['spec'], `${file} ${path}`, {
    origin: { repository, file, line: 0, column: 0 },
    message: message`${part('path', file)}: makes ${quoted('path', path)} the start of a cluster, in a folder that a tenant deploys from: the tenant would say what the platform of that cluster applies. Allowed is a folder of the platform.`,
    fix: message`Remove it, or have a fleet admin move what starts the cluster to a folder of the platform.`,
  })
}

const violation = (subject: Subject): Violation =>
  subject.violation(['kind'], subject.id.kind, {
    message: message`${objectPart(subject.id.kind, subject.id.namespace, subject.id.name)} configures Flux itself, but ${identityPart(subject.node.identity)} applies it for a tenant. Allowed: this kind in the fleet repository. The Flux Operator would act on it with its own rights.`,
    fix: message`Remove the object, or ask a fleet admin to add it to the fleet repository.`,
  })

/**
 * A FluxInstance that is applied to one cluster and names the folder of another: Flux starts from it there, while it is
 * evaluated as the other cluster, with that cluster's tenants.
 */
function* elsewhereStarted(subject: Subject, { index }: RuleContext): Iterable<Violation> {
  const { kind, node } = subject
  if (node.tenant !== undefined || subject.at(['spec', 'kubeConfig'])) return
  const place = SYNCS.get(kind) ?? []
  const path = subject.text([...place, 'path'])
  if (path === undefined || /[{}$]/.test(path)) return
  const [folder, own] = [artifactPath(path), index.cluster(node.cluster)?.path]
  const other = index.clusters().find(name => name !== node.cluster && index.cluster(name)?.path === folder)
  if (folder === own || other === undefined) return
  yield subject.violation([...place, 'path'], folder, {
    message: message`${subject.who} makes Flux of cluster ${quoted('value', node.cluster)} start from ${quoted('path', folder)}, which belongs to cluster ${quoted('value', other)} with other tenants. Allowed: the cluster's own folder.`,
    fix: message`Set the sync path to the folder of cluster ${quoted('value', node.cluster)}. Or move the object to the folder of the other cluster.`,
  })
}

const NAMESPACE = 'flux-system'

/** Flags that keep tenants apart stay on, on every controller of a cluster. */
export const fluxLockdownWeakened: Rule = {
  id: 'flux-lockdown-weakened',
  severity: 'critical',
  title: 'Weakened Flux lockdown',
  why: 'Patches set the lockdown flags. A patch with a wrong target or path has no effect and reports no error. Every tenant is then cluster-admin or can read the sources of other tenants.',
  source: 'Flux multi-tenancy lockdown',
  docs: 'A new cluster sets what all other clusters set. Keep `--no-cross-namespace-refs` on every controller, `--no-remote-bases` on kustomize-controller, and `--default-service-account` on kustomize-controller and helm-controller, or set `multitenant: true` in the FluxInstance.',
  kinds: ['apps/Deployment', 'apps/StatefulSet', 'apps/DaemonSet'],
  checkObject: instanceElsewhere,
  checkCluster: evaluateFleet,
}

interface Loss {
  readonly controller: string
  readonly flag: string
  readonly now: string
  readonly what: Message
  /** Where the flag is, or was, written. */
  readonly origin: Origin | undefined
  /** The cluster is new. */
  readonly isNew?: true
}

function* evaluateFleet(cluster: Cluster, { index, before }: RuleContext): Iterable<Violation> {
  const root = index.rootOf(cluster.name)
  // a root that could not be built or read shows no flags either
  if (!root || root.source.opaque !== undefined || (isIncomplete(root) && !root.holes?.length)) return
  const [earlier, rootBefore] = [before?.cluster(cluster.name), before?.rootOf(cluster.name)]
  const isPart = isIncomplete(root)
  // a partly built root is compared with what it showed before: retained objects do not hide a removed flag
  const is = shownBy(cluster, isPart).flux
  const was = earlier && shownBy(earlier, isPart && rootBefore !== undefined && isIncomplete(rootBefore)).flux
  // a new hole may be why a flag is not visible
  const isVague = isPart && rootBefore !== undefined && hasMoreCauses(root, rootBefore)
  const others = (before?.clusters() ?? []).flatMap(name => before?.cluster(name)?.lockdown.flux ?? [])
  const losses = [
    ...(isVague ? [] : partial(is)),
    ...(was ? lost(was, is) : []),
    // a new cluster must have the flags that all others have
    ...(before && !earlier && !isPart ? missing(is, others) : []),
  ]
  const seen = new Set<string>()
  for (const loss of losses) {
    const id = `${loss.controller} ${loss.flag}`
    if (seen.has(id)) continue
    seen.add(id)
    yield { ...weakenedViolation(index, root, loss), ...(isVague ? { level: 'error' as const } : {}) }
  }
}

const shownBy = (cluster: ClusterFacts, isPart: boolean) =>
  isPart ? (cluster.shownLockdown ?? cluster.lockdown) : cluster.lockdown

type Flux = Cluster['lockdown']['flux']

/** Flags that were on before the change and no longer are. */
function* lost(was: NonNullable<Flux>, is: Flux): Iterable<Loss> {
  const now = flagsByController(is)
  const runs = controllersByName(was)
  for (const [controller, before] of flagsByController(was)) {
    const after = now.get(controller) ?? new Map<string, string>()
    // a controller that is not installed needs no flag; patches also name controllers that are not installed
    if (is && (is.from === was.from || is.from !== 'patches') && !now.has(controller)) continue
    for (const flag of LOCKDOWN_FLAGS) {
      if (!flag.controllers.includes(runs.get(controller)!)) continue
      const [old, value] = [lockdownValue(before, flag), lockdownValue(after, flag)]
      if (old === '' || old === value) continue
      const how =
        value === ''
          ? message`is no longer set`
          : message`changes from ${quoted('value', old)} to ${quoted('value', value)}`
      const what = message`${part('value', `--${flag.name}`)} of ${part('object', controller)} ${how}. ${capital(flag.why(runs.get(controller)!, value))}`
      const origin = flagOrigin(is, controller, flag.name) ?? flagOrigin(was, controller, flag.name)
      yield { controller, flag: flag.name, now: value, what, origin }
    }
    for (const [flag, why] of WEAKENING_FLAGS) {
      if (!isOn(after.get(flag)) || isOn(before.get(flag))) continue
      const what = message`${part('value', `--${flag}`)} of ${part('object', controller)} is now set. ${capital(why)}`
      yield { controller, flag, now: 'true', what, origin: flagOrigin(is, controller, flag) }
    }
  }
}

/** Flags that all clusters of the base set and a new one does not. */
function* missing(flux: Flux, others: readonly NonNullable<Flux>[]): Iterable<Loss> {
  if (!flux || others.length === 0) return
  for (const flag of LOCKDOWN_FLAGS) {
    if (!others.map(other => setFor(other, flag)).every(({ known, on }) => on.length > 0 && on.length === known.length))
      continue
    const { known, on } = setFor(flux, flag)
    for (const controller of known) {
      if (on.includes(controller)) continue
      const runs = controllersByName(flux).get(controller)!
      const what = message`${part('value', `--${flag.name}`)} is set on all other clusters, not for ${part('object', controller)} here. ${capital(flag.why(runs, ''))}`
      yield { controller, flag: flag.name, now: '', what, origin: undefined, isNew: true }
    }
  }
}

/** The installed controllers that have a flag, and those of them for which it is set. */
function setFor(flux: NonNullable<Flux>, flag: LockdownFlag) {
  const [all, runs] = [flagsByController(flux), controllersByName(flux)]
  const known = installedControllers(flux).filter(controller => flag.controllers.includes(runs.get(controller)!))
  return { known, on: known.filter(controller => lockdownValue(all.get(controller) ?? new Map(), flag) !== '') }
}

/** Flags that are on for one controller and off for another of the same cluster: a patch missed its target. */
function* partial(flux: Flux): Iterable<Loss> {
  if (!flux) return
  const runs = controllersByName(flux)
  for (const flag of LOCKDOWN_FLAGS) {
    const { known, on: others } = setFor(flux, flag)
    for (const controller of known) {
      if (others.length === 0 || others.includes(controller)) continue
      const met = listed(others.map(name => part('object', name)))
      const what = message`${part('value', `--${flag.name}`)} is set for ${met}, but not for ${part('object', controller)}. ${capital(flag.why(runs.get(controller)!, ''))}`
      // the patch that missed is most likely the one that matched the others
      const places = [controller, ...others].flatMap(name => flagOrigin(flux, name, flag.name) ?? [])
      yield { controller, flag: flag.name, now: '', what, origin: places[0] }
    }
  }
}

function weakenedViolation(index: FleetIndex, root: FleetNode, loss: Loss): Violation {
  const { controller, flag, now, what, origin, isNew } = loss
  const deployment = index.platformObject(root.cluster, 'apps/Deployment', NAMESPACE, controller)
  const path = deployment ? ['spec', 'template', 'spec', 'containers', 0, 'args'] : ['spec', 'path']
  const value = `${controller} ${flag} ${now}`
  const instance = ofInstance(index, root.cluster, loss)
  const place = instance ? instance.origin : origin
  return new Subject({ node: root, object: deployment ?? root.kustomization }).violation(path, value, {
    ...(place ? { origin: place } : {}),
    // one patch sets a flag of several controllers
    cause: flagCause(root.cluster, flag, now, origin),
    // another account no longer owns the Tenant of its home
    ...(flag === 'default-service-account'
      ? { leads: [...index.capsuleHomes(root.cluster).keys()].map(lostCause) }
      : {}),
    message: message`Flux is less locked down here: ${what}. Allowed: the flag ${isNew ? 'of the other clusters' : 'as it was'}, on every controller that supports it.`,
    fix: instance
      ? instance.fix
      : isNew
        ? message`Set ${part('value', `--${flag}`)} on ${part('object', controller)}, as the other clusters do.`
        : message`Restore ${part('value', `--${flag}`)} on ${part('object', controller)}, and check that the patch's target matches it.`,
  })
}

/** The field of the cluster's FluxInstance that sets a flag, where it and no patch does. */
function ofInstance(index: FleetIndex, cluster: string, { now, flag, origin }: Loss) {
  const [found] = index.platformAnywhere(cluster, FLUX_INSTANCE)
  if (!found) return undefined
  const { root } = found.object
  const written = originAt(root, MULTITENANT)
  if (!isMultitenant(root)) {
    const fix = message`Set \`multitenant: true\` under spec.cluster of the FluxInstance.`
    return now === '' ? { origin: written, fix } : undefined
  }
  if (flag !== 'default-service-account' || origin?.file !== written.file || origin.line !== written.line)
    return undefined
  const account = ['spec', 'cluster', 'tenantDefaultServiceAccount']
  return {
    origin: originAt(root, account),
    fix: message`Restore ${part('field', account.join('.'))} of the FluxInstance.`,
  }
}

/**
 * An instance of a Flux controller, such as a shard, that a Kustomization other than the root applies and that lacks a
 * flag which the installed controller has.
 */
function* instanceElsewhere(subject: Subject, { index }: RuleContext): Iterable<Violation> {
  const { object, id, node } = subject
  const runs = controllerRunBy(object, NAMESPACE)
  // all objects of a root are read with the cluster; what a tenant runs has the tenant's rights
  if (runs === undefined || node.parent === undefined || node.tenant !== undefined) return
  const installed = flagsByController(index.cluster(node.cluster)?.lockdown.flux).get(runs)
  if (!installed) return
  const flags = controllerFlags(object, runs)
  for (const flag of LOCKDOWN_FLAGS) {
    const isOff = lockdownValue(flags, flag) === ''
    if (!flag.controllers.includes(runs) || !isOff || lockdownValue(installed, flag) === '') continue
    yield subject.violation(['spec', 'template', 'spec', 'containers', 0, 'args'], `${id.name} ${flag.name} `, {
      message: message`${subject.who} runs ${part('object', runs)} without ${part('value', `--${flag.name}`)}, which the installed instance has. ${capital(flag.why(runs, ''))}. Allowed: the flag on every instance.`,
      fix: message`Add ${part('value', `--${flag.name}`)} to the container's args.`,
    })
  }
}
