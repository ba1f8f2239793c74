import { execFileSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { readFolder } from '../../../src/git/folder-tree.ts'
import { openSnapshot } from '../../../src/git/tree.ts'
import { toJson } from '../../../src/kube/node.ts'
import { build } from '../../../src/kustomize/pipeline/build.ts'
import { findProgram, programs } from '../../repository/runner/programs.ts'

const kustomize = findProgram('kustomize')
const acme = join(import.meta.dirname, 'acme')
const overlays = globSync('*/**/kustomization.yaml', { cwd: acme, exclude: ['**/components/**'] })
  .map(path => dirname(path).split('/'))
  .map(([repository = '', ...directory]) => [repository, directory.join('/')] as const)

test.for(overlays)('%s/%s is built as the real kustomize builds it', async ([repository, directory], { skip }) => {
  if (kustomize === undefined) return skip(`no kustomize: ${programs.kustomize.get}`)
  const root = join(acme, repository)
  const tree = openSnapshot(await readFolder(root))
  const ours = build(tree, `acme/${repository}`, directory).map(object => toJson(object.root))
  const args = ['build', '--reorder', 'none', '--load-restrictor', 'LoadRestrictionsNone', join(root, directory)]
  const text = execFileSync(kustomize, args, { encoding: 'utf8', stdio: 'pipe' })
  expect(JSON.parse(JSON.stringify(ours))).toEqual(parseAllDocuments(text).map(document => document.toJS()))
})
