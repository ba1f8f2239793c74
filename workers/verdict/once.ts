/** Asks at most once: everybody gets the first answer. An answer that failed is asked for again. */
export function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined
  return () => {
    answer ??= ask().catch(error => {
      answer = undefined
      throw error
    })
    return answer
  }
}
