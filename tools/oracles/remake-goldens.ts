import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { comparable, type Expected, fixtures, goldenText, inputOf } from './fixtures.ts'
import { FLUX_RENDER, fluxRender, KUSTOMIZE, kustomizeBuild } from './real-programs.ts'

// Writes expected.json of every render case, or of those named, with the real programs:
//   KUSTOMIZE=… FLUX_RENDER=… npm run goldens -- [NAME...]
if (!KUSTOMIZE || !FLUX_RENDER) throw new Error('name the programs: KUSTOMIZE and FLUX_RENDER')

const named = process.argv.slice(2)
for (const fixture of fixtures().filter(({ name }) => named.length === 0 || named.includes(name))) {
  const copy = mkdtempSync(join(tmpdir(), 'render-'))
  for (const file of inputOf(fixture.directory)) {
    mkdirSync(dirname(join(copy, file.path)), { recursive: true })
    writeFileSync(join(copy, file.path), file.content)
  }
  const expected: Expected = fixture.flux
    ? fluxRender(FLUX_RENDER, { root: copy, ...fixture.flux })
    : kustomizeBuild(KUSTOMIZE, join(copy, fixture.target))
  const shown: Expected = 'objects' in expected ? { objects: expected.objects.map(comparable) } : { fails: true }
  writeFileSync(join(fixture.directory, 'expected.json'), goldenText(shown))
  rmSync(copy, { recursive: true })
}
