import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import type { FakeGitHub } from '../../../tools/github/start.ts'

/** A mirror clone of a repository in `dir`, with every object and ref that GitHub has of it, or those refs that are named. */
export function writeClone(github: FakeGitHub, repo: string, dir: string, wanted?: (ref: string) => boolean): string {
  const { store, refs } = github.repositoryNamed(repo)
  execFileSync('git', ['init', '-q', '--bare', dir])
  const url = `https://github.com/${repo}`
  execFileSync('git', ['-C', dir, 'remote', 'add', 'origin', url])
  for (const [sha, { type, bytes }] of store.entries()) {
    mkdirSync(join(dir, 'objects', sha.slice(0, 2)), { recursive: true })
    const object = Buffer.concat([Buffer.from(`${type} ${bytes.length}\0`), bytes])
    writeFileSync(join(dir, 'objects', sha.slice(0, 2), sha.slice(2)), deflateSync(object))
  }
  for (const [ref, sha] of refs) {
    if (wanted?.(ref) ?? true) execFileSync('git', ['-C', dir, 'update-ref', ref, sha])
  }
  return dir
}
