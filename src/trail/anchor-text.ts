import type { TrailAnchor } from './trail-entry.ts'

const FORM = /~t(\d{1,15})-([0-9a-f]{24})$/
const DIGITS = 24

/** An external id that notes, behind what it says, how far the trail had come. */
export function withAnchor(externalId: string, { seq, hash }: TrailAnchor): string {
  return `${withoutAnchor(externalId)}~t${seq}-${hash.slice(0, DIGITS)}`
}

/** What an external id says, without the place in the trail. */
export function withoutAnchor(externalId: string): string {
  return externalId.replace(FORM, '')
}

/** The place that an external id notes; undefined for none. */
export function anchorOf(externalId: string): TrailAnchor | undefined {
  const [, seq, hash] = FORM.exec(externalId) ?? []
  return seq === undefined || hash === undefined ? undefined : { seq: Number(seq), hash }
}
