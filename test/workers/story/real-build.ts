import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import type { FakeGitHub } from '../../../tools/github/start.ts'
import { findProgram } from '../../repository/runner/programs.ts'

/** Kind, namespace and name, sorted. */
type Built = readonly (readonly [kind: string, namespace: string, name: string])[]

export const kustomize = findProgram('kustomize')

/** What the real kustomize builds of a directory of the fleet at a ref. */
export function realBuild(github: FakeGitHub, ref: string, directory: string): Built {
  const root = mkdtempSync(join(tmpdir(), 'bailiwick-build-'))
  try {
    for (const path of github.filesOf('acme/fleet', ref)) {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), github.readFile('acme/fleet', ref, path))
    }
    const text = execFileSync(kustomize!, ['build', '--load-restrictor', 'LoadRestrictionsNone', join(root, directory)])
    return parseAllDocuments(text.toString())
      .map(document => document.toJS())
      .map(({ kind, metadata }) => [kind, metadata.namespace ?? '', metadata.name] as const)
      .sort((a, b) => (a.join() < b.join() ? -1 : 1))
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}
