import type { ClusterFacts } from '../../facts/facts.ts'
import { hashOf, placeText } from '../../facts/fingerprint.ts'
import type { FleetIndex } from '../../facts/fleet-index.ts'
import { quoted } from '../../facts/shown.ts'
import { isOn } from '../../fleet/lockdown/controller-flags.ts'
import {
  controllersByName,
  flagsByController,
  installedControllers,
  LOCKDOWN_FLAGS,
  type LockdownFlag,
  lockdownValue,
  WEAKENING_FLAGS,
} from '../../fleet/lockdown/lockdown-flags.ts'
import type { Cluster, FleetNode } from '../../fleet/model/fleet.ts'
import { hasMoreCauses } from '../../fleet/model/has-more-causes.ts'
import { isIncomplete } from '../../fleet/model/is-complete.ts'
import { listed, type Message, message, part, untyped } from '../../message/message.ts'
import type { Origin } from '../../origin.ts'
import type { Rule, RuleContext, Violation } from '../model/rule.ts'
import { instanceElsewhere } from './support/instance-elsewhere.ts'

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
  checkCluster: (cluster, context) => evaluateFleet(cluster, context),
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
  // of a root of which nothing is built, nothing shows; one that is not seen shows no flags either
  if (!root || root.source.opaque !== undefined || (isIncomplete(root) && !root.holes?.length)) return
  const [earlier, rootBefore] = [before?.cluster(cluster.name), before?.rootOf(cluster.name)]
  const isPart = isIncomplete(root)
  // what the root itself shows is compared with what it showed before: what it retains hides nothing that is taken away
  const is = shownBy(cluster, isPart).flux
  const was = earlier && shownBy(earlier, isPart && rootBefore !== undefined && isIncomplete(rootBefore)).flux
  // a new hole may be why a flag is not there
  const isVague = isPart && rootBefore !== undefined && hasMoreCauses(root, rootBefore)
  const others = (before?.clusters() ?? []).flatMap(name => before?.cluster(name)?.lockdown.flux ?? [])
  const losses = [
    ...(isVague ? [] : partial(is)),
    ...(was ? lost(was, is) : []),
    // a new cluster is as closed as all others
    ...(before && !earlier && !isPart ? missing(is, others) : []),
  ]
  const seen = new Set<string>()
  for (const loss of losses) {
    const id = `${loss.controller} ${loss.flag}`
    if (seen.has(id)) continue
    seen.add(id)
    yield { ...violation(index, root, loss), ...(isVague ? { level: 'error' as const } : {}) }
  }
}

const shownBy = (cluster: ClusterFacts, isPart: boolean) =>
  isPart ? (cluster.shownLockdown ?? cluster.lockdown) : cluster.lockdown

type Flux = Cluster['lockdown']['flux']

/** What was on before the change and is not any more. */
function* lost(was: NonNullable<Flux>, is: Flux): Iterable<Loss> {
  const now = flagsByController(is)
  const runs = controllersByName(was)
  for (const [controller, before] of flagsByController(was)) {
    const after = now.get(controller) ?? new Map<string, string>()
    // whoever is not installed needs no flag; patches also name those whom nobody installs
    if (is && (is.from === was.from || is.from !== 'patches') && !now.has(controller)) continue
    for (const flag of LOCKDOWN_FLAGS) {
      if (!flag.controllers.includes(runs.get(controller)!)) continue
      const [old, value] = [lockdownValue(before, flag), lockdownValue(after, flag)]
      if (old === '' || old === value) continue
      const how =
        value === ''
          ? message`is no longer set`
          : message`changes from ${quoted('value', old)} to ${quoted('value', value)}`
      const what = message`--${part('value', flag.name)} of ${part('object', controller)} ${how}: ${untyped(flag.why(runs.get(controller)!, value))}`
      const origin = placeOf(is, controller, flag.name) ?? placeOf(was, controller, flag.name)
      yield { controller, flag: flag.name, now: value, what, origin }
    }
    for (const [flag, why] of WEAKENING_FLAGS) {
      if (!isOn(after.get(flag)) || isOn(before.get(flag))) continue
      const what = message`--${part('value', flag)} of ${part('object', controller)} is now set: ${untyped(why)}`
      yield { controller, flag, now: 'true', what, origin: placeOf(is, controller, flag) }
    }
  }
}

/** What all clusters of the base set, and a new one does not. */
function* missing(flux: Flux, others: readonly NonNullable<Flux>[]): Iterable<Loss> {
  if (!flux || others.length === 0) return
  for (const flag of LOCKDOWN_FLAGS) {
    if (!others.map(other => setFor(other, flag)).every(({ known, on }) => on.length > 0 && on.length === known.length))
      continue
    const { known, on } = setFor(flux, flag)
    for (const controller of known) {
      if (on.includes(controller)) continue
      const runs = controllersByName(flux).get(controller)!
      const what = message`--${part('value', flag.name)} is set on all other clusters, but not for ${part('object', controller)} of this new one: ${untyped(flag.why(runs, ''))}`
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

/** What is on for one controller and not for another of the same cluster: a patch that missed its target. */
function* partial(flux: Flux): Iterable<Loss> {
  if (!flux) return
  const runs = controllersByName(flux)
  for (const flag of LOCKDOWN_FLAGS) {
    const { known, on: others } = setFor(flux, flag)
    for (const controller of known) {
      if (others.length === 0 || others.includes(controller)) continue
      const met = listed(others.map(name => part('object', name)))
      const what = message`--${part('value', flag.name)} is set for ${met}, but not for ${part('object', controller)}: ${untyped(flag.why(runs.get(controller)!, ''))}`
      // the patch that missed is most likely the one that met the others
      const places = [controller, ...others].flatMap(name => placeOf(flux, name, flag.name) ?? [])
      yield { controller, flag: flag.name, now: '', what, origin: places[0] }
    }
  }
}

function placeOf(flux: Flux, controller: string, flag: string): Origin | undefined {
  const flags = flux?.controllers.find(({ name }) => name === controller)?.flags
  return flags?.findLast(({ name }) => name === flag)?.origin
}

function violation(index: FleetIndex, root: FleetNode, loss: Loss): Violation {
  const { controller, flag, now, what, origin, isNew } = loss
  const deployment = index.platformObject(root.cluster, 'apps/Deployment', NAMESPACE, controller)
  return {
    node: root,
    object: deployment ?? root.kustomization,
    path: deployment ? ['spec', 'template', 'spec', 'containers', 0, 'args'] : ['spec', 'path'],
    ...(origin ? { origin } : {}),
    value: `${controller} ${flag} ${now}`,
    // one patch sets a flag of several controllers
    cause: hashOf([flag, now, origin ? placeText(origin) : root.cluster]),
    message: message`Flux's lockdown is weaker on this cluster: ${what}. Allowed: the flag ${isNew ? 'of the other clusters' : 'as it was'}, on every controller that supports it.`,
    fix: isNew
      ? message`Set --${part('value', flag)} on ${part('object', controller)}, as the other clusters do.`
      : message`Restore --${part('value', flag)} on ${part('object', controller)}, and check that the patch's target matches it.`,
  }
}
