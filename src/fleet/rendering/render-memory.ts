import { BailiwickError } from '../../errors.ts'
import type { Artifact } from '../../flux/artifact.ts'
import type { KubeObject } from '../../kube/object.ts'
import { type Rendering, renderAgain } from './render-memo.ts'
import type { Watch } from './work.ts'

type Render = (artifact: Artifact, kustomization: KubeObject, facts: Rendering) => readonly KubeObject[]

/** What was rendered when a fleet was built, by node, for the next time that it is. */
export class RenderMemory {
  readonly rendered: Map<string, readonly KubeObject[]>
  readonly #onRendered: ((spared: boolean) => void) | undefined
  readonly #watch: Watch | undefined
  /** How many renderings were not spared. */
  count = 0

  /** `rendered`: what was there before; it is filled further. `onRendered` hears of each rendering that is done. */
  constructor(
    rendered: Map<string, readonly KubeObject[]> = new Map(),
    onRendered?: (spared: boolean) => void,
    watch?: Watch,
  ) {
    this.rendered = rendered
    this.#onRendered = onRendered
    this.#watch = watch
  }

  /** What stands in for renderKustomization where a node, or a step towards a root, is rendered. */
  render(key: string): Render {
    return (artifact, kustomization, facts) => {
      this.#watch?.running(key)
      if (this.#watch?.stopped.has(key)) throw stopped()
      const before = this.rendered.get(key)
      const again = renderAgain(before, artifact, kustomization, facts)
      if (!again.spared) this.count++
      this.rendered.set(key, again.objects)
      this.#onRendered?.(again.spared)
      return again.objects
    }
  }
}

function stopped(): BailiwickError {
  return new BailiwickError('evaluation-limits', 'rendering this Kustomization exceeded the time or memory limit', {
    fix: 'Render fewer objects, or ask the operator to raise RENDER_TIMEOUT_MS or RENDER_HEAP_MB.',
  })
}
