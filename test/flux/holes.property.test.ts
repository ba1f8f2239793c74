import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BailiwickError } from '../../src/base/errors.ts'
import { renderKustomization } from '../../src/flux/render-kustomization.ts'
import { Leniency, renderWithHoles } from '../../src/flux/render-with-holes.ts'
import { canonical } from '../../src/kube/node.ts'
import type { KubeObject } from '../../src/kube/object.ts'
import { jsonNode, requestFacts } from '../../src/surface/cli/render-request.ts'
import { Chance } from '../../tools/oracles/generate/chance.ts'
import { fluxTrials } from '../../tools/oracles/generate/flux.ts'
import { insertPart } from '../../tools/oracles/generate/insert-part.ts'
import { FEATURE_NAMES } from '../../tools/oracles/generate/overlay.ts'
import type { Trial } from '../../tools/oracles/trial.ts'
import { treeOf } from '../base/git/tree-of.ts'
import { attempt } from '../repository/runner/refusal-of.ts'

const CASES = fc.tuple(fluxTrials(FEATURE_NAMES), fc.gen()).map(([trial, g]) => ({ trial, chance: new Chance(g) }))

function inputOf({ files, flux = {} }: Trial) {
  const request = jsonNode(JSON.stringify(flux), { repository: '', file: 'request', line: 1, column: 1 })
  const root = request.type === 'map' ? request.fields.get('kustomization')?.value : undefined
  if (request.type !== 'map' || root?.type !== 'map') return undefined
  const texts = Object.entries(files).flatMap(([path, content]) =>
    typeof content === 'string' ? [[path, content]] : [],
  )
  if (texts.length < Object.keys(files).length) return undefined
  const { ignore } = flux as { ignore?: string }
  const artifact = {
    repository: '',
    tree: treeOf(Object.fromEntries(texts)),
    ...(ignore === undefined ? {} : { ignore }),
  }
  return { artifact, kustomization: { root, trail: [] }, facts: requestFacts(request, root) }
}

const textsOf = (objects: readonly KubeObject[]) => objects.map(({ root }) => canonical(root))

test('what builds has no holes and the same objects, and what fails is never built without one', () => {
  fc.assert(
    fc.property(CASES, ({ trial, chance }) => {
      for (const one of [trial, insertPart(trial, chance)?.damaged ?? trial]) {
        const input = inputOf(one)
        if (!input) return
        const { artifact, kustomization, facts } = input
        const strict = attempt(() => renderKustomization(artifact, kustomization, facts))
        const left = attempt(() => renderWithHoles(artifact, kustomization, facts))
        if (!(strict instanceof BailiwickError)) {
          const tolerance = new Leniency()
          expect(left).toMatchObject({ holes: [] })
          const again = renderKustomization(artifact, kustomization, { ...facts, tolerance })
          expect(textsOf(again)).toEqual(textsOf(strict))
          expect(tolerance.holes()).toEqual([])
        } else if (left instanceof BailiwickError) expect(left.message).toBe(strict.message)
        else {
          expect(left.error?.message).toBe(strict.message)
          expect(left.holes.map(hole => hole.error.message)).toContain(strict.message)
        }
      }
    }),
    { numRuns: 150 },
  )
}, 120_000)
