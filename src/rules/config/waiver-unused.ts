import { objectPart } from '../../facts/shown.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import type { Waiver } from '../../fleet/model/fleet-config.ts'
import { codeWord, message, part } from '../../message/message.ts'
import type { Rule, Violation } from '../model/rule.ts'

/** A waiver that nothing needs; only who has everything that was found can say so, see unusedWaivers. */
export const waiverUnused: Rule = {
  id: 'waiver-unused',
  severity: 'low',
  level: 'warning',
  title: 'Unused waiver',
  why: 'A waiver that matches no present finding stays in the file and accepts the same value when it returns.',
  docs: 'Remove the entry from `waivers` in `.github/bailiwick.yaml`, or correct its rule, object or cluster.',
}

/** The finding for an unneeded waiver, at the cluster's root. */
export function unusedWaiver(
  { rule, cluster, kind, namespace, name, origin, expires }: Waiver,
  root: FleetNode,
): Violation {
  const where = cluster === undefined ? message`` : message` on cluster ${part('value', cluster)}`
  return {
    node: root,
    object: root.kustomization,
    path: [],
    origin,
    value: JSON.stringify([rule, cluster ?? '', kind, namespace, name]),
    message: message`The waiver of ${part('value', rule)} for ${objectPart(kind, namespace, name)}${where} (until ${part('value', expires)}) is not used: no finding matches it. Allowed: waivers that match a finding.`,
    fix: message`Remove the waiver from ${codeWord('.github/bailiwick.yaml')}, or correct its rule, object or cluster.`,
  }
}
