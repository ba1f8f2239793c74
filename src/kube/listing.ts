import { type Listing, type MapNode, stringAt } from './node.ts'

/** The object, which remembers the list that it was an item of: nothing else of that list is left in a build. */
export function listed(object: MapNode, list: MapNode): MapNode {
  return { ...object, listing: listingOf(list) }
}

/** What the items of a list remember of it. */
export function listingOf(list: MapNode): Listing {
  const textOf = (key: string) => stringAt(list, [key]) ?? ''
  return { apiVersion: textOf('apiVersion'), kind: textOf('kind'), isNested: list.listing !== undefined }
}
