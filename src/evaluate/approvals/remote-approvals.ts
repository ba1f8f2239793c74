import { shownName, shownObject } from '../../facts/shown.ts'
import type { Fleet } from '../../fleet/model/fleet.ts'
import type { RequiredApproval } from '../../rules/model/finding.ts'
import { changedKubeConfigs } from './changed-kubeconfigs.ts'
import { onePerGroup } from './one-per-group.ts'
import { type Applier, appliersIn } from './remote-appliers.ts'

const RULE = 'kubeconfig-ref'

/**
 * What the platform lets Flux apply by kubeconfigs: one that is new, one that an object did not act by before, another
 * account, and another content of it. Where a kubeconfig leads is not in git: it may be the hub itself, whose rules know
 * nothing of what is applied through it. Tenants have the rule `kubeconfig-ref`.
 */
export function remoteApprovals(head: Fleet, base: Fleet): RequiredApproval[] {
  const [now, was] = [appliersIn(head), appliersIn(base)]
  if (!now.some(isRemote) && !was.some(isRemote)) return []
  const old = platformsOf(base, was)
  const before = Map.groupBy(old, keyOf)
  const known = { targets: new Set(old.map(targetKey)), accounts: new Set(old.map(accountKey)) }
  const changes = platformsOf(head, now).flatMap(one => changeOf(one, before.get(keyOf(one)) ?? [], known) ?? [])
  return [...oncePerTarget(changes), ...changedKubeConfigs(head, base, now, was).map(approvalOfContent)]
}

/** What acts in a namespace of a tenant is evaluated by what its hub gives the tenant, wherever it leads. */
function platformsOf({ clusters }: Fleet, appliers: readonly Applier[]): Applier[] {
  const owners = new Map(clusters.map(one => [one.name, one.owners]))
  return appliers.filter(({ cluster, tenant, id }) => tenant === undefined && !owners.get(cluster)?.has(id.namespace))
}

interface Known {
  readonly targets: ReadonlySet<string>
  readonly accounts: ReadonlySet<string>
}

interface Change {
  readonly applier: Applier
  readonly what: string
  /** Equal for those that are told together. */
  readonly group: string
}

const isRemote = ({ target }: Applier) => target !== ''
const keyOf = ({ cluster, id }: Applier) => JSON.stringify([cluster, id.kind, id.namespace, id.name])
const targetKey = ({ cluster, target }: Applier) => JSON.stringify([cluster, target])
const accountKey = (one: Applier) => JSON.stringify([targetKey(one), one.id.namespace, one.account])

/** What is new about where and as whom an object acts. One more that acts where others do already is no news. */
function changeOf(applier: Applier, before: readonly Applier[], known: Known): Change | undefined {
  const of = (what: string, group: string): Change => ({ applier, what, group })
  const { target } = applier
  if (before.some(one => one.target === target && (target === '' || one.account === applier.account))) return undefined
  if (target === '') {
    const [from] = before.filter(isRemote)
    return (
      from &&
      of(
        `would act on cluster ${shownName(applier.cluster)} itself, no longer with ${kubeConfig(from)}`,
        keyOf(applier),
      )
    )
  }
  if (!known.targets.has(targetKey(applier)))
    return of(`would act by ${kubeConfig(applier)}, which is new. ${ANY}`, targetKey(applier))
  const others = before.filter(one => one.target !== target)
  if (before.length > 0 && others.length === before.length) {
    const from = isRemote(others[0]!) ? kubeConfig(others[0]!) : `on cluster ${shownName(applier.cluster)} itself`
    return of(`would act by ${kubeConfig(applier)}, not ${from} as before. ${ANY}`, keyOf(applier))
  }
  if (before.length === 0 && known.accounts.has(accountKey(applier))) return undefined
  return of(`would act by ${kubeConfig(applier)} as ${account(applier)}, unlike before`, accountKey(applier))
}

const ANY = 'It may lead to any cluster, the same one included'

function kubeConfig({ id, refs }: Applier): string {
  const names = refs.map(({ kind, name, key }) => {
    if (kind === '') return 'nothing that it names'
    return `${shownObject(kind, id.namespace, name)}${key === '' ? '' : ` (key ${shownName(key)})`}`
  })
  return `the kubeconfig of ${names.join(' and ')}`
}

const account = ({ account: name }: Applier): string => (name === '' ? 'its own user' : `account ${shownName(name)}`)

/** One that is new is told once, however many objects act by it. */
function oncePerTarget(changes: readonly Change[]): RequiredApproval[] {
  return onePerGroup(
    changes,
    ({ group }) => group,
    ({ applier, what }, others) => {
      const { kind, namespace, name } = applier.id
      return { rule: RULE, path: applier.file, message: `${shownObject(kind, namespace, name)}${others} ${what}` }
    },
  )
}

function approvalOfContent({ applier, object, file }: ReturnType<typeof changedKubeConfigs>[number]): RequiredApproval {
  const { kind, namespace, name } = object
  const by = shownObject(applier.id.kind, applier.id.namespace, applier.id.name)
  const message = `${shownObject(kind, namespace, name)}, by which ${by} acts, changes. It may lead to another cluster than before`
  return { rule: RULE, path: file, message }
}
