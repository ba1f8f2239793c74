import type { RequiredApproval } from '../../rules/model/finding.ts'

/** One approval for each group of items; `others` is what the text about the first one says of how many more there are. */
export function onePerGroup<Item>(
  items: Iterable<Item>,
  groupOf: (item: Item) => string,
  approvalOf: (first: Item, others: string) => RequiredApproval,
): RequiredApproval[] {
  return [...Map.groupBy(items, groupOf).values()].map(group => {
    const [first, ...more] = group as [Item, ...Item[]]
    return approvalOf(first, more.length === 0 ? '' : ` (and ${more.length} more)`)
  })
}
