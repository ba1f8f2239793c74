import { hash } from 'node:crypto'
import { normaliseUrl } from '../../kube/url.ts'
import { ENGINE_VERSION } from '../model/engine-version.ts'
import { FLEET_FILE } from '../model/fleet-config.ts'
import type { FleetInput, SourceContent } from '../model/input.ts'
import { refKey } from '../model/ref.ts'
import { revisionKey } from '../model/revision-of.ts'

/** Hash of everything that a verdict on `input` depends on; equal inputs in another order give the same hash. */
export function revisionSetOf(input: FleetInput): string {
  const { fleet } = input
  const config = (input.config ?? fleet.tree).entry(FLEET_FILE)
  // written as one list of JSON, piece by piece: of thousands of sources nearly all are written already
  const parts = [
    JSON.stringify(ENGINE_VERSION),
    JSON.stringify([normaliseUrl(fleet.url), fleet.branch, fleet.commit, fleet.tree.id]),
    `[${sourcesOf(input).join(',')}]`,
    JSON.stringify(input.opaque.map(o => [normaliseUrl(o.url), refKey(o.ref), o.reason].join(' ')).sort()),
    JSON.stringify(config?.id ?? ''),
    JSON.stringify([...(input.disabledRules ?? [])].sort()),
    ...(fleet.clusters?.length ? [JSON.stringify(fleet.clusters.map(({ name, path }) => [name, path]))] : []),
    ...(input.values ? [JSON.stringify(['values', input.values.digest])] : []),
    ...(input.access ? [JSON.stringify([input.access.facts, input.access.withheld ?? ''])] : []),
  ]
  return hash('sha256', `[${parts.join(',')}]`)
}

/** A source as text, and that in JSON. */
interface Written {
  readonly text: string
  readonly json: string
}

const known = new WeakMap<SourceContent, Written>()

/** Every source in JSON, in the order of their texts. */
function sourcesOf({ sources }: FleetInput): string[] {
  const all = sources.map(writtenOf)
  const isSorted = all.every(({ text }, index) => index === 0 || all[index - 1]!.text <= text)
  if (!isSorted) all.sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0))
  return all.map(({ json }) => json)
}

/** A source that stays is written once. */
function writtenOf(source: SourceContent): Written {
  let written = known.get(source)
  if (written === undefined) {
    const text = [normaliseUrl(source.url), refKey(source.ref), revisionKey(source), source.tree.id].join(' ')
    written = { text, json: JSON.stringify(text) }
    known.set(source, written)
  }
  return written
}
