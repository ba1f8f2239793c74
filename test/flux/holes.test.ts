import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { renderWithHoles } from '../../src/flux/render-with-holes.ts'
import { canonical, toJson } from '../../src/kube/node.ts'
import { parseDocuments } from '../../src/kube/yaml/parse-documents.ts'
import { LineProgram } from '../../tools/oracles/line-program.ts'
import { canonicalPlain } from '../../tools/oracles/read-output.ts'
import { treeOf } from '../base/git/tree-of.ts'
import { findProgram, programs } from '../repository/runner/programs.ts'
import { HEALTHY, HOLE_CASES, type HoleCase } from './hole-cases.ts'

type Files = Readonly<Record<string, string>>

function filesOf({ fields = '', resources = [], files = {} }: Partial<HoleCase>): Files {
  const list = ['a.yaml', 'web.yaml', ...resources].map(entry => `- ${entry}\n`).join('')
  return { ...HEALTHY, ...files, 'kustomization.yaml': `resources:\n${list}${fields}` }
}

function kustomizationOf({ spec = '' }: Partial<HoleCase>) {
  const text = `kind: Kustomization\nmetadata: {name: k, namespace: apps}\nspec:\n  path: ./\n${spec}`
  const [root] = parseDocuments({ repository: 'fleet', path: 'k.yaml' }, Buffer.from(text))
  if (root?.type !== 'map') throw new Error('no object')
  return root
}

function rendered(one: Partial<HoleCase>) {
  const artifact = { repository: 'fleet', tree: treeOf(filesOf(one)) }
  const { objects, holes } = renderWithHoles(artifact, { root: kustomizationOf(one), trail: [] })
  const told = holes.map(({ error, fatal, effect }) => {
    const place = `${error.origin?.file}:${error.origin?.line}`
    return `${fatal ? 'refused' : 'built'}, ${effect}: ${error.code} @${place}`
  })
  return { objects: objects.map(({ root }) => canonical(root)), told, hides: holes.map(({ hides }) => hides) }
}

const CASES = Object.entries(HOLE_CASES)

describe('what cannot be built is as small as its cause, and the rest is what it is without it', () => {
  test.for(CASES)('%s', ([, one]) => {
    const { objects, told } = rendered(one)
    expect(told).toEqual(one.holes)
    const without = rendered(one.without ?? {})
    expect(without.told).toEqual([])
    expect(objects).toEqual(without.objects)
  })
})

const program = findProgram('flux-render')

describe.skipIf(!program)(`Flux says the same (needs flux-render: ${programs['flux-render'].get})`, () => {
  const scratch = mkdtempSync(join(tmpdir(), 'holes-'))
  const flux = new LineProgram([program!])
  afterAll(() => {
    flux.close()
    rmSync(scratch, { recursive: true })
  })

  const ask = (one: Partial<HoleCase>, name: string) => {
    const root = join(scratch, name.replaceAll(/\W/g, '-'))
    for (const [path, content] of Object.entries(filesOf(one))) {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), content)
    }
    return flux.ask({ root, strict: true, kustomization: toJson(kustomizationOf(one)) })
  }

  test.for(CASES.filter(([, one]) => one.notAsked !== true))('%s', async ([name, one]) => {
    const answer = await ask(one, name)
    expect('error' in answer ? answer.error : 'built').toMatch(
      one.careful || one.holes.some(hole => hole.startsWith('refused')) ? /^(?!built$)/ : /^built$/,
    )
    const without = await ask(one.without ?? {}, `${name} without`)
    const objects = 'objects' in without ? without.objects.map(object => canonicalPlain(object)) : without
    expect(rendered(one).objects).toEqual(objects)
  })
})
