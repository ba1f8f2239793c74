import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { FIXTURES } from './fixtures.ts'
import type { Trial } from './trial.ts'

/** Writes an input as a render case, still without its golden. Returns the folder. Throws where the name is taken. */
export function saveTrial(trial: Trial, name: string): string {
  const folder = join(FIXTURES, name)
  if (existsSync(folder)) throw new Error(`${folder} is there already`)
  const flux = trial.flux ? { 'flux.json': `${JSON.stringify(trial.flux, null, 2)}\n` } : {}
  for (const [path, content] of Object.entries({ ...trial.files, ...flux })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  return folder
}
