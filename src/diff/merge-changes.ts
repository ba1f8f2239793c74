import { type Changes, sumCounts } from './changes.ts'

/** What a change does in several fleets, as one; undefined for none. */
export function mergeChanges(all: readonly Changes[]): Changes | undefined {
  if (all.length <= 1) return all[0]
  const sum = (of: (one: Changes) => number) => all.reduce((total, one) => total + of(one), 0)
  return {
    nodes: all.flatMap(one => one.nodes),
    rights: all.flatMap(one => one.rights),
    tenants: all.flatMap(one => one.tenants),
    clusters: all.flatMap(one => one.clusters),
    totals: sumCounts(all.map(one => one.totals)),
    hidden: sum(one => one.hidden),
    left: {
      nodes: sum(one => one.left.nodes),
      objects: sum(one => one.left.objects),
      fields: sum(one => one.left.fields),
      rights: sum(one => one.left.rights),
      tenants: sum(one => one.left.tenants),
      clusters: sum(one => one.left.clusters),
    },
  }
}
