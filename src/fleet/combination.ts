import { createHash } from 'node:crypto'
import { normaliseUrl } from '../kube/url.ts'
import { FLEET_FILE } from './config/fleet-config.ts'
import { ENGINE_VERSION } from './engine-version.ts'
import type { FleetInput, SourceContent } from './input.ts'
import { refKey } from './ref.ts'

/** Hash of everything that a verdict on `input` depends on; equal inputs in another order give the same hash. */
export function combinationOf(input: FleetInput): string {
  const { fleet } = input
  const config = (input.config ?? fleet.tree).entry(FLEET_FILE)
  const parts = [
    ENGINE_VERSION,
    [normaliseUrl(fleet.url), fleet.branch, fleet.commit, fleet.tree.id],
    input.sources.map(textOf).sort(),
    input.opaque.map(o => [normaliseUrl(o.url), refKey(o.ref), o.reason].join(' ')).sort(),
    config?.id ?? '',
    [...(input.disabledRules ?? [])].sort(),
  ]
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}

const known = new WeakMap<SourceContent, string>()

/** A source that stays is written once. */
function textOf(source: SourceContent): string {
  let text = known.get(source)
  if (text === undefined) {
    text = [normaliseUrl(source.url), refKey(source.ref), source.commit, source.tree.id].join(' ')
    known.set(source, text)
  }
  return text
}
