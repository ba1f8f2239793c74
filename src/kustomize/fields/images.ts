import { setImages } from './set-images.ts'
import type { Transformer } from './transformer.ts'

/** The field `images`. */
export const images: Transformer = (resources, { kustomization, config, budget }) => {
  setImages(resources, kustomization.images, config.images, budget)
}
