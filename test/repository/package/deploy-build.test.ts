import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { run } from '../../surface/cli/run-main.ts'
import { findProgram, programs } from '../runner/programs.ts'

const ROOT = join(import.meta.dirname, '../../..')
const FOLDERS = ['.', 'app', 'example', 'worker', 'hub']

test.for(FOLDERS)('kustomize builds the same of deploy/%s as `render` does', async (folder, { skip }) => {
  const kustomize = findProgram('kustomize')
  if (kustomize === undefined) return skip(`no kustomize: ${programs.kustomize.get}`)
  const at = join(ROOT, 'deploy', folder)
  // Flux keeps the order, too
  const built = execFileSync(kustomize, ['build', '--reorder', 'none', at], { encoding: 'utf8', stdio: 'pipe' })
  const { stdout } = await run(ROOT, 'render', at)
  const objects = (text: string) => parseAllDocuments(text).map(document => document.toJS())
  expect(objects(stdout)).toEqual(objects(built))
  expect(objects(built).length).toBeGreaterThan(5)
})
