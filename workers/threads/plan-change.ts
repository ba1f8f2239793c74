import { adoptionText } from '../../src/adopt/adoption-text.ts'
import type { FleetChange } from '../../src/adopt/fleet-change.ts'
import { planAdoption } from '../../src/adopt/plan-adoption.ts'
import { planLockdown } from '../../src/adopt/plan-lockdown.ts'
import { openSnapshot } from '../../src/git/snapshot.ts'
import type { Tree } from '../../src/git/tree.ts'
import { normaliseUrl } from '../../src/kube/url.ts'
import { fleetAt } from '../../src/onboard/fleet-at.ts'
import type { ChangeRequest } from './protocol.ts'

/** The change that a request asks for; undefined where there is nothing to change. */
export function planChange({ ask, tree: snapshot, url, branch }: ChangeRequest): FleetChange | undefined {
  const build = (tree: Tree) => fleetAt(tree, url, branch)
  const tree = openSnapshot(snapshot)
  const fleet = { fleet: build(tree), tree, url: normaliseUrl(url), build }
  if (ask.kind === 'lockdown') return planLockdown(fleet, ask.cluster)
  return adoptionText(ask.request.name, planAdoption(fleet, ask.request))
}
