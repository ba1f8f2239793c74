import { expect, test } from 'vitest'
import { type SourceRef, sourceRevision } from '../../src/fleet/model/source-ref.ts'

const COMMIT = 'a'.repeat(40)
const DIGEST = `sha256:${'b'.repeat(64)}`

// fluxcd/pkg git.Commit.String and gogit/clone.go; source-controller ocirepository_controller.go, getRevision
test.each<[SourceRef, string | undefined, string]>([
  [{}, undefined, `master@sha1:${COMMIT}`],
  [{ branch: 'main' }, undefined, `main@sha1:${COMMIT}`],
  [{ branch: 'feature/x' }, undefined, `feature/x@sha1:${COMMIT}`],
  [{ tag: 'v1.2.3' }, undefined, `v1.2.3@sha1:${COMMIT}`],
  [{ tag: 'v1.2.3', branch: 'main' }, undefined, `v1.2.3@sha1:${COMMIT}`],
  [{ name: 'refs/heads/main' }, undefined, `main@sha1:${COMMIT}`],
  [{ name: 'refs/tags/v1', branch: 'main' }, undefined, `v1@sha1:${COMMIT}`],
  [{ name: 'refs/tags/v1^{}' }, undefined, `v1^{}@sha1:${COMMIT}`],
  [{ name: 'refs/pull/420/head' }, undefined, `420/head@sha1:${COMMIT}`],
  [{ commit: COMMIT }, undefined, `sha1:${COMMIT}`],
  [{ commit: COMMIT, branch: 'main' }, undefined, `main@sha1:${COMMIT}`],
  [{ commit: COMMIT, tag: 'v1' }, undefined, `sha1:${COMMIT}`],
  [{ semver: '1.x' }, 'v1.9.0', `v1.9.0@sha1:${COMMIT}`],
  [{ registry: { tag: 'v1' } }, undefined, `v1@${DIGEST}`],
  [{ registry: {} }, undefined, `latest@${DIGEST}`],
  [{ registry: { semver: '1.x' } }, '1.9.0', `1.9.0@${DIGEST}`],
  [{ registry: { semver: '1.x', tag: 'v1' } }, '1.9.0', `1.9.0@${DIGEST}`],
  [{ registry: { digest: DIGEST, tag: 'v1' } }, undefined, DIGEST],
])('the revision of %j is the one that source-controller writes', (ref, chosen, expected) => {
  expect(sourceRevision(ref, ref.registry ? DIGEST : COMMIT, chosen)).toBe(expected)
})
