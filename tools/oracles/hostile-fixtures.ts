import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { BailiwickError } from '../../src/base/errors.ts'
import { renderKustomization } from '../../src/flux/render-kustomization.ts'
import { openSnapshot, packSnapshot } from '../../src/git/tree.ts'
import { at, type Json, toJson } from '../../src/kube/node.ts'
import { parseText } from '../../src/kube/yaml/parse-documents.ts'
import { build } from '../../src/kustomize/pipeline/build.ts'
import { requestFacts } from '../../src/surface/cli/render-request.ts'
import { comparable, type Expected } from './fixtures.ts'
import { hostileFluxTrials, hostileTrials } from './generate/hostile.ts'
import { FLUX_RENDER, fluxRender, KUSTOMIZE, kustomizeBuild } from './real-programs.ts'
import type { Trial } from './trial.ts'

const FILE = join(import.meta.dirname, '../../test/fixtures/hostile.jsonl')
const SEED = 29
const EACH = 150

/** A build that writes hostile keys and values, what the real program makes of it, and the code with which we refuse it. */
export interface HostileFixture extends Trial {
  readonly expected: Expected
  readonly refused?: string
}

export function hostileFixtures(): HostileFixture[] {
  return readFileSync(FILE, 'utf8')
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line) as HostileFixture)
}

/** What our engine makes of it. */
export function renderHostile({ files, target, flux }: Trial): Expected & { refused?: string } {
  try {
    const tree = openSnapshot(
      packSnapshot(Object.entries(files).map(([path, content]) => ({ path, content: Buffer.from(content) }))),
    )
    if (!flux) return { objects: build(tree, '', target!).map(({ root }) => comparable(toJson(root))) }
    const [request] = parseText(JSON.stringify(flux), () => ({
      repository: '',
      file: 'flux.json',
      line: 1,
      column: 1,
    })).documents
    const root = at(request, ['kustomization'])
    if (request?.type !== 'map' || root?.type !== 'map') throw new Error('the fixture has no kustomization')
    const objects = renderKustomization({ repository: '', tree }, { root, trail: [] }, requestFacts(request, root))
    return { objects: objects.map(object => comparable(toJson(object.root))) }
  } catch (error) {
    if (!(error instanceof BailiwickError)) throw error
    return { fails: true, refused: error.code }
  }
}

function real({ files, target, flux }: Trial): Expected {
  const root = mkdtempSync(join(tmpdir(), 'hostile-'))
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  const expected = flux
    ? fluxRender(FLUX_RENDER!, { root, ...(flux as { kustomization: Json }) })
    : kustomizeBuild(KUSTOMIZE!, join(root, target!))
  rmSync(root, { recursive: true })
  return 'objects' in expected ? { objects: expected.objects.map(comparable) } : { fails: true }
}

/** KUSTOMIZE=… FLUX_RENDER=… node tools/oracles/hostile-fixtures.ts */
function remake(): void {
  if (!KUSTOMIZE || !FLUX_RENDER) throw new Error('name the programs: KUSTOMIZE and FLUX_RENDER')
  const trials = [hostileTrials(), hostileFluxTrials()].flatMap(kind =>
    fc.sample(kind, { seed: SEED, numRuns: EACH, unbiased: true }),
  )
  const lines = trials.map(trial => {
    const expected = real(trial)
    const ours = renderHostile(trial)
    const refused = 'objects' in expected && ours.refused ? { refused: ours.refused } : {}
    return `${JSON.stringify({ ...trial, expected, ...refused })}\n`
  })
  writeFileSync(FILE, lines.join(''))
}

if (import.meta.filename === process.argv[1]) remake()
