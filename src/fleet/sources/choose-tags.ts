import { BailiwickError } from '../../errors.ts'
import { containsPattern } from '../../kustomize/select/pattern.ts'
import type { Origin } from '../../origin.ts'
import { compareVersions, readVersion, type Version } from './version.ts'
import { readRange } from './version-range.ts'

/** Which tags of a repository an OCIRepository may follow. */
interface Wanted {
  /** `spec.ref.semver`. */
  readonly semver: string
  /** `spec.ref.semverFilter`: a regular expression of Go. */
  readonly filter?: string | undefined
  /** Media type of the layer: Helm writes the `+` of a version as `_`. */
  readonly layer?: string | undefined
}

const CHART = 'application/vnd.cncf.helm.chart.content.v1.tar+gzip'
const NOWHERE: Origin = { repository: '', file: '', line: 0, column: 0 }
const MAX_STEPS = 5_000_000

/**
 * The tags of the latest version in the range: more than one where versions are equal but for their spelling. None where no
 * tag matches (source-controller, getTagBySemver). Throws `render-limits` for a filter that takes too many steps.
 */
export function chooseTags(tags: readonly string[], { semver, filter, layer }: Wanted): string[] {
  const isIn = readRange(semver)
  if (!isIn) return []
  const passes = filter === undefined ? () => true : filterOf(filter)
  let latest: Version | undefined
  let found: string[] = []
  for (const tag of tags) {
    if (!passes(tag)) continue
    const text = layer === CHART ? tag.replaceAll('_', '+') : tag
    // fluxcd/pkg version.ParseVersion: three parts, whatever is in them
    const version = text.split('.').length < 3 ? undefined : readVersion(text)
    if (!version || !isIn(version)) continue
    const order = latest === undefined ? 1 : compareVersions(version, latest)
    if (order > 0) [latest, found] = [version, [tag]]
    else if (order === 0) found.push(tag)
  }
  return found
}

function filterOf(text: string): (tag: string) => boolean {
  let left = MAX_STEPS
  const budget = {
    spend(_what: 'steps', amount: number) {
      left -= amount
      if (left < 0)
        throw new BailiwickError('render-limits', `spec.ref.semverFilter takes more than ${MAX_STEPS} steps`, {
          fix: 'Write a shorter expression.',
        })
    },
  }
  return tag => containsPattern({ text, origin: NOWHERE }, tag, budget)
}
