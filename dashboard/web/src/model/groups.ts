/** Things by what they have in common, each group in their order. O(n): a copied list a thing would be O(n²). */
export function groupsOf<T, K>(things: Iterable<T>, of: (thing: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const thing of things) {
    const group = groups.get(of(thing));
    if (group) group.push(thing);
    else groups.set(of(thing), [thing]);
  }
  return groups;
}
