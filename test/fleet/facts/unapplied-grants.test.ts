import { expect, test } from 'vitest'
import { unappliedGrants } from '../../../src/fleet/facts/grants.ts'
import type { MapNode } from '../../../src/kube/node.ts'
import { idOf, type KubeObject } from '../../../src/kube/object.ts'
import { parseDocuments } from '../../../src/kube/yaml/parse-documents.ts'
import { fleetOf } from '../fleet-of.ts'
import { miniFleet } from '../mini-fleet.ts'

const { nodes } = fleetOf(miniFleet())
const nodeOf = (tenant: string) => nodes.find(node => node.tenant === tenant)!

/** Roles of which each is written by an account that the one before lets write it, and the first is not applied. */
function chain(length: number): string[] {
  const role = (name: string, more = '') =>
    `---\napiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: ${name}, namespace: apps${more}}\n`
  const rendered = (tenant: string, text: string) =>
    parseDocuments({ repository: '', path: 'a.yaml' }, Buffer.from(text)).map(root => ({
      object: { root: root as MapNode, trail: [] },
      node: nodeOf(tenant),
    }))
  const own = Array.from({ length }, (_, at) => role(`r${at}`))
  const first = role('first', ', annotations: {kustomize.toolkit.fluxcd.io/reconcile: disabled}')
  const grants = [
    ...rendered('dev-team', [first, ...own, role('alone')].join('')),
    ...rendered('ops-team', role('other')),
  ]
  const refused = ({ object }: { object: KubeObject }, without: readonly string[]) => {
    const at = /^r(\d+)$/.exec(idOf(object).name)?.[1]
    const needed = at === '0' ? 'first' : at && `r${Number(at) - 1}`
    return needed && without.some(name => name.endsWith(`/${needed}`)) ? 'forbidden' : undefined
  }
  return [...unappliedGrants(grants, nodes, refused).values()].map(({ object }) => idOf(object).name)
}

test('grants that need each other in a row are followed', () => {
  expect(chain(14)).toHaveLength(15)
})

test('of a longer row no other grant of its author counts, and those of others do', () => {
  expect(chain(15)).toContain('alone')
  expect(chain(40).sort()).toEqual(['alone', 'first', ...Array.from({ length: 40 }, (_, at) => `r${at}`)].sort())
})
