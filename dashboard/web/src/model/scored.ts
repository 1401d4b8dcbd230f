// What counts as scored, asked by many.
/** A valid program that got a number. */
export function isScored(node: { is_valid: boolean; is_buggy: boolean; metric?: number | null }): boolean {
  return node.is_valid && !node.is_buggy && node.metric != null;
}
