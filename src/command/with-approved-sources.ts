import { readFleetText } from '../fleet/config/read-fleet-file.ts'
import { refKey } from '../fleet/model/ref.ts'
import { normaliseUrl } from '../kube/url.ts'
import type { SourceUse } from '../rules/model/finding.ts'
import { scalar, unfit, withItem } from './fleet-list.ts'

/**
 * Adds sources of tenants to `approvedSources` in the fleet's file; all other text stays. `text` is undefined if there is no
 * file. Throws `command-input` if the file cannot be read or has an unusual layout.
 */
export function withApprovedSources(text: string | undefined, uses: readonly SourceUse[]): string {
  const before = readFleetText(text ?? '')
  if (before.error) throw unfit(`cannot be read: ${before.error.message}`)
  const listed = new Set(before.approvedSources.map(keyOf))
  const added = uses.filter(use => !listed.has(keyOf(use)))
  const edited = added.reduce((done, use) => withItem(done, 'approvedSources', linesOf(use)), text ?? '')
  const { error, approvedSources } = readFleetText(edited)
  const written = approvedSources.map(keyOf)
  const wanted = [...listed, ...added.map(keyOf)]
  if (error || JSON.stringify(written) !== JSON.stringify(wanted)) throw unfit('cannot take this entry')
  return edited
}

const keyOf = ({ tenant, url, ref, account }: SourceUse) =>
  JSON.stringify([tenant, normaliseUrl(url), refKey(ref), account])

function linesOf({ tenant, url, ref, account }: SourceUse): string[] {
  const fields = Object.entries(ref).map(([key, value]) => `${key}: ${JSON.stringify(value)}`)
  return [
    `tenant: ${scalar(tenant)}`,
    `url: ${JSON.stringify(url)}`,
    `ref: {${fields.join(', ')}}`,
    `account: ${JSON.stringify(account)}`,
  ]
}
