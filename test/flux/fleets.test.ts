import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { BailiwickError } from '../../src/base/errors.ts'
import { packTree } from '../../src/flux/artifact.ts'
import { renderKustomization } from '../../src/flux/render-kustomization.ts'
import { readFolder } from '../../src/git/folder-tree.ts'
import { openSnapshot, type Tree } from '../../src/git/tree.ts'
import { type Json, stringAt, toJson } from '../../src/kube/node.ts'
import type { KubeObject } from '../../src/kube/object.ts'
import { parseDocuments } from '../../src/kube/yaml/parse-documents.ts'
import { build } from '../../src/kustomize/pipeline/build.ts'
import { comparable, type Expected } from '../../tools/oracles/fixtures.ts'
import { FLUX_RENDER, fluxRender, KUSTOMIZE, kustomizeBuild } from '../../tools/oracles/real-programs.ts'

const FLEETS = join(import.meta.dirname, '../../../shared/fleets')

function* folders(): Generator<string> {
  if (!existsSync(FLEETS)) return
  for (const fleet of readdirSync(FLEETS, { withFileTypes: true })) {
    if (!fleet.isDirectory()) continue
    for (const repository of readdirSync(join(FLEETS, fleet.name))) yield join(FLEETS, fleet.name, repository)
  }
}

function* directoriesOf(tree: Tree, directory = ''): Generator<string> {
  yield directory
  for (const entry of tree.list(directory)) if (entry.type === 'directory') yield* directoriesOf(tree, entry.path)
}

function attempt(run: () => readonly KubeObject[]): Expected {
  try {
    return { objects: run().map(object => comparable(toJson(object.root))) }
  } catch (error) {
    if (!(error instanceof BailiwickError)) throw error
    return { fails: true }
  }
}

function answerOf(expected: Expected): Expected {
  return 'objects' in expected ? { objects: expected.objects.map(comparable) } : { fails: true }
}

/** A Kustomization of our own for a directory, so that every directory is rendered as Flux would. */
function kustomizationOf(path: string): KubeObject {
  const text = JSON.stringify({ kind: 'Kustomization', metadata: { name: 'x', namespace: 'y' }, spec: { path } })
  const [root] = parseDocuments({ repository: '', path: 'k' }, Buffer.from(text))
  if (root?.type !== 'map') throw new Error('no object')
  return { root, trail: [] }
}

function kustomizationsIn(tree: Tree, directory: string): KubeObject[] {
  const built = attempt(() => build(tree, '', directory))
  if ('fails' in built) return []
  return build(tree, '', directory).filter(object => stringAt(object.root, ['kind']) === 'Kustomization')
}

describe('fleets, rendered as the real programs do', () => {
  test('there are some', context => {
    if (!existsSync(FLEETS)) context.skip('no ../shared/fleets beside the project')
    expect([...folders()].length).toBeGreaterThan(0)
  })
  for (const folder of folders()) {
    test(`kustomize: ${folder.slice(FLEETS.length + 1)}`, { timeout: 120_000 }, async context => {
      const program = KUSTOMIZE ?? context.skip('no kustomize on this machine')
      const tree = openSnapshot(await readFolder(folder))
      for (const directory of directoriesOf(tree)) {
        const expected = answerOf(kustomizeBuild(program, join(folder, directory)))
        expect(
          attempt(() => build(tree, '', directory)),
          directory,
        ).toEqual(expected)
      }
    })
    test(`Flux: ${folder.slice(FLEETS.length + 1)}`, { timeout: 120_000 }, async context => {
      const program = FLUX_RENDER ?? context.skip('no flux-render on this machine')
      const tree = openSnapshot(await readFolder(folder))
      for (const directory of directoriesOf(tree)) {
        for (const object of [kustomizationOf(directory), ...kustomizationsIn(tree, directory)]) {
          const { files, ...expected } = fluxRender(program, {
            root: folder,
            kustomization: toJson(object.root) as Json,
          })
          const got = attempt(() => renderKustomization({ repository: '', tree }, object))
          expect(got, directory).toEqual(answerOf(expected as Expected))
          const packed = packTree(tree)
          const kept = [...directoriesOf(packed)].flatMap(path =>
            packed.list(path).filter(entry => entry.type === 'file'),
          )
          expect(kept.map(entry => entry.path).sort()).toEqual([...files].sort())
        }
      }
    })
  }
})
