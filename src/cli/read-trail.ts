import { additionsOnly } from '../git/additions-only.ts'
import { openCommit } from '../git/read-commit.ts'
import { resolveRef } from '../git/resolve-ref.ts'
import type { Tree } from '../git/tree.ts'
import type { TrailAnchor } from '../trail/trail-entry.ts'
import { TRAIL_FOLDER, type TrailFile } from '../trail/trail-files.ts'
import { type ReadTrail, type TrailProblem, verifyTrail } from '../trail/verify-trail.ts'

/** The trail at a ref of a clone, and everything by which it is not the one that was written. */
export async function readTrail(dir: string, ref: string, anchors: readonly TrailAnchor[] = []): Promise<ReadTrail> {
  const { commit } = await resolveRef(dir, ref)
  const { files, problems } = filesOf(await openCommit(dir, commit))
  const { entries, head, fleet, problems: found } = verifyTrail(files, anchors)
  return {
    entries,
    head,
    fleet,
    problems: [...problems, ...(await additionsOnly(dir, commit)).map(inHistory), ...found],
  }
}

/** The files of the trail; what else the branch holds is a problem, for nothing else was written there. */
function filesOf(tree: Tree): { files: readonly TrailFile[]; problems: readonly TrailProblem[] } {
  const files: TrailFile[] = []
  const problems: TrailProblem[] = []
  const all = tree.list('').flatMap(entry => (entry.path === TRAIL_FOLDER ? tree.list(entry.path) : [entry]))
  for (const { path, type } of all) {
    if (type === 'file' && path.startsWith(`${TRAIL_FOLDER}/`)) files.push({ path, bytes: tree.read(path) })
    else problems.push({ file: path, line: 0, message: 'not a file of the trail' })
  }
  return { files, problems }
}

const inHistory = (message: string): TrailProblem => ({ file: '', line: 0, message })
