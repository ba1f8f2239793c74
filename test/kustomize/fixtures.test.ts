import { describe, expect, test } from 'vitest'
import { BailiwickError } from '../../src/base/errors.ts'
import { renderKustomization } from '../../src/flux/render-kustomization.ts'
import { at, type Json, toJson } from '../../src/kube/node.ts'
import { parseDocuments } from '../../src/kube/yaml/parse-documents.ts'
import { build } from '../../src/kustomize/pipeline/build.ts'
import { requestFacts } from '../../src/surface/cli/render-request.ts'
import { comparable, type Expected, expectedOf, type Fixture, fixtures, treeOf } from '../../tools/oracles/fixtures.ts'

/** Renders a case with our engine; a refusal is given with its code and rule. */
function rendered(fixture: Fixture): Expected & { refusal?: string } {
  try {
    return { objects: objectsOf(fixture).map(comparable) }
  } catch (error) {
    if (!(error instanceof BailiwickError)) throw error
    return { fails: true, refusal: [error.code, error.rule].filter(Boolean).join(' ') }
  }
}

function objectsOf(fixture: Fixture): Json[] {
  const tree = treeOf(fixture.directory)
  if (!fixture.flux) return build(tree, '', fixture.target).map(object => toJson(object.root))
  const { ignore } = fixture.flux
  const [request] = parseDocuments({ repository: '', path: 'flux.json' }, Buffer.from(JSON.stringify(fixture.flux)))
  const root = at(request, ['kustomization'])
  if (request?.type !== 'map' || root?.type !== 'map')
    throw new Error(`${fixture.name}: flux.json has no kustomization`)
  const artifact = { repository: '', tree, ...(ignore === undefined ? {} : { ignore }) }
  const objects = renderKustomization(artifact, { root, trail: [] }, requestFacts(request, root))
  return objects.map(object => toJson(object.root))
}

describe('render cases, as the real programs answer them', () => {
  for (const fixture of fixtures()) {
    test(fixture.name, () => {
      const { refusal, ...got } = rendered(fixture)
      const expected = expectedOf(fixture)
      if (fixture.refused) expect(refusal).toBe(fixture.refused)
      else expect(got).toEqual(expected)
    })
  }
})
