import { BailiwickError } from '../errors.ts'
import type { Tree } from '../git/tree.ts'

/** Comparisons of characters and of patterns with paths, and looks at entries of trees. */
const MAX_STEPS = 30_000_000

/** Counts comparisons, so that patterns from outside cannot cost more than is allowed. */
export class MatchWork {
  steps = 0
  private readonly limit: number

  constructor(limit: number) {
    this.limit = limit
  }

  /** Throws `render-limits` for too much work. */
  spend(steps: number): void {
    this.steps += steps
    if (this.steps <= this.limit) return
    const fix = 'Use fewer and simpler ignore patterns.'
    throw new BailiwickError('render-limits', 'the ignore patterns need too many steps to match', { fix })
  }
}

/**
 * What packing may use up: of one Kustomization, or of all that share it. An artifact is paid for once, whoever packed it
 * first, so that the answer does not depend on what was rendered before.
 */
export class PackBudget {
  private left: number
  private readonly paid = new Set<Tree>()

  /** `scale`: how many times the usual limit. */
  constructor(scale = 1) {
    this.left = MAX_STEPS * scale
  }

  /** What `pack` gives, paid for. Throws `render-limits`. */
  pack(pack: (work: MatchWork) => Tree): { tree: Tree; steps: number } {
    const work = new MatchWork(this.left)
    try {
      const tree = pack(work)
      this.paid.add(tree)
      return { tree, steps: work.steps }
    } finally {
      this.left -= work.steps
    }
  }

  /** Pays for something else that belongs to it. Throws `render-limits`. */
  spend(steps: number): void {
    this.left -= steps
    if (this.left < 0) new MatchWork(0).spend(1)
  }

  /** Pays for what is packed already. Throws `render-limits`. */
  pay({ tree, steps }: { readonly tree: Tree; readonly steps: number }): void {
    if (this.paid.has(tree)) return
    this.pack(work => {
      work.spend(steps)
      return tree
    })
  }
}
